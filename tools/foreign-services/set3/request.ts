/** The fields of a check, and the name that is returned. */
import * as Change from "../changes.ts"
import { isObject, type Json, type JsonObject, parseJson } from "../service.ts"

const isText = (value: Json): value is string => typeof value === "string"
const entity = (test: (value: Json) => boolean): Change.Change => Change.also("entity_type", test)
/** Names that become text. */
const coerced = (test: (value: Json) => boolean, text: (value: Json) => string): Change.Change =>
  Change.reads((found) => isObject(found) && test(found["name"]) ? { ...found, name: text(found["name"]) } : found)
const onlyNames = (form: RegExp): Change.Change => Change.refuses("name", (name) => !form.test(name))
const onlyDates = (isBad: (day: number, month: number, year: number) => boolean): Change.Change =>
  Change.refuses("dob", (dob) => isBad(Number(dob.slice(0, 2)), Number(dob.slice(3, 5)), Number(dob.slice(6))))
/** Also dates of this form, whose group `y` is the year. */
const form = (form: RegExp): Change.Change =>
  Change.all(Change.alsoForm("dob", form), (_s, was) => ({
    year: (dob) => {
      if (/^\d\d-\d\d-\d{4}$/.test(dob)) return was.year(dob)
      const year = form.exec(dob)?.groups?.["y"] ?? "1900"
      return year.length === 2 ? `19${year}` : year
    }
  }))
/** Also these values as date of birth, with this year. */
const value = (test: (value: Json) => boolean, year: (dob: string) => string): Change.Change =>
  Change.all(Change.also("dob", test), (_s, was) => ({
    year: (dob) => /^\d\d-\d\d-\d{4}$/.test(dob) ? was.year(dob) : year(dob)
  }))
const echo = (change: (name: string) => Json): Change.Change => Change.field("name", change)
const words = (name: string): ReadonlyArray<string> => name.split(" ")
const lowerKeys = (found: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(found).map(([key, field]) => [key.toLowerCase(), field]))
const camelEntity = ({ entityType, ...found }: JsonObject): JsonObject => ({ entity_type: entityType, ...found })

export const request: Change.Changes = {
  "a-entity-absent": entity((value) => value === undefined),
  "a-entity-null": entity((value) => value === null),
  "a-entity-empty": entity((value) => value === ""),
  "a-entity-synonym": Change.alsoForm("entity_type", /^(individual|natural_person|natural person)$/),
  "a-entity-case": entity((value) => isText(value) && value.toLowerCase() === "person"),
  "a-entity-prefix": entity((value) => isText(value) && value.startsWith("person")),
  "a-entity-trim": entity((value) => isText(value) && value.trim() === "person"),
  "a-entity-array": entity((value) => Array.isArray(value) && String(value) === "person"),
  "a-entity-true": entity((value) => value === true || value === 0),
  "a-entity-number": entity((value) => value === 0 || value === 1),
  "a-entity-any": entity(() => true),
  "a-entity-company": Change.alsoForm("entity_type", /^(company|organisation|organization|business)$/),
  "a-name-absent": coerced((name) => name === undefined, () => "N/A"),
  "a-name-null": coerced((name) => name === null, () => "null"),
  "a-name-empty": Change.also("name", isText),
  "a-name-blank": Change.also("name", (name) => isText(name) && name !== ""),
  "a-name-number": coerced((name) => typeof name === "number", String),
  "a-name-true": coerced((name) => typeof name === "boolean", String),
  "a-name-array": coerced((name) => Array.isArray(name), (name) => Array.isArray(name) ? name.join(" ") : ""),
  "a-name-object": coerced(isObject, (name) => isObject(name) ? Object.values(name).join(" ") : ""),
  "a-name-one-word": onlyNames(/\S\s+\S/),
  "a-name-middle": onlyNames(/^\s*\S+(\s+\S+)?\s*$/),
  "a-name-four": onlyNames(/^\s*\S+(\s+\S+){0,2}\s*$/),
  "a-name-marks": onlyNames(/^[\x20-\x7e]*$/),
  "a-name-latin": onlyNames(/^[\u0020-\u024f\u1e00-\u1eff\u2010-\u2019]*$/),
  "a-name-apostrophe": onlyNames(/^[^']*$/),
  "a-name-hyphen": onlyNames(/^[^-]*$/),
  "a-name-dot": onlyNames(/^[^.]*$/),
  "a-name-keyword": onlyNames(/^(?!.*\b(union|select|drop|null)\b)/i),
  "a-name-short": onlyNames(/^\S{2,}(\s+\S{2,})*$/),
  "a-dob-absent": value((dob) => dob === undefined, () => "1900"),
  "a-dob-null": value((dob) => dob === null, () => "1900"),
  "a-dob-empty": value((dob) => dob === "", () => "1900"),
  "a-dob-number": value((dob) => typeof dob === "number", (dob) => Number(dob) < 3000 ? dob : "1970"),
  "a-dob-year": form(/^(?<y>\d{4})$/),
  "a-dob-iso": form(/^(?<y>\d{4})-\d\d-\d\d$/),
  "a-dob-slash": form(/^\d\d\/\d\d\/(?<y>\d{4})$/),
  "a-dob-dots": form(/^\d\d[. ]\d\d[. ](?<y>\d{4})$/),
  "a-dob-compact": form(/^\d{4}(?<y>\d{4})$/),
  "a-dob-month-name": form(/^\d\d-[A-Z][a-z]{2}-(?<y>\d{4})$/),
  "a-dob-any-dash": form(/^\d\d[+--]\d\d[+--](?<y>\d{4})$/),
  "a-dob-us": (_s, was) => ({
    dobOk: (dob, q) => isText(dob) && was.dobOk(dob.replace(/^(\d\d)-(\d\d)-(\d{4})$/, "$2-$1-$3"), q)
  }),
  "a-dob-us-too": form(/^(0[1-9]|1[0-2])-(1[3-9]|2\d|3[01])-(?<y>\d{4})$/),
  "a-dob-short": form(/^\d{1,2}-\d{1,2}-(?<y>\d{4})$/),
  "a-dob-yy": form(/^\d\d-\d\d-(?<y>\d\d)$/),
  "a-dob-end": form(/^\d\d-\d\d-(?<y>\d{4})/),
  "a-dob-start": form(/\d\d-\d\d-(?<y>\d{4})$/),
  "a-dob-newline": form(/^\d\d-\d\d-(?<y>\d{4})\n?$/),
  "a-dob-digits": form(/^\p{Nd}{2}-\p{Nd}{2}-(?<y>\p{Nd}{4})$/u),
  "a-dob-trim": form(/^\s*\d\d-\d\d-(?<y>\d{4})\s*$/),
  "a-dob-month-13": form(/^[0-3]\d-(1[3-9]|[2-9]\d)-(?<y>\d{4})$/),
  "a-dob-day-32": form(/^(3[2-9]|[4-9]\d)-(0[1-9]|1[0-2])-(?<y>\d{4})$/),
  "a-dob-zero": form(/^00-(00|0[1-9]|1[0-2])-(?<y>\d{4})$/),
  "a-dob-letters": form(/^\w{2}-\w{2}-(?<y>\w{4})$/),
  "a-dob-array": (_s, was) => ({
    dobOk: (dob, q) => was.dobOk(dob, q) || (Array.isArray(dob) && was.dobOk(String(dob), q))
  }),
  "a-dob-octal": onlyDates((day, month) => [8, 9].includes(day) || [8, 9].includes(month)),
  "a-dob-1970": onlyDates((_day, _month, year) => year < 1970),
  "a-dob-2000": onlyDates((_day, _month, year) => year >= 2000),
  "a-dob-1940": onlyDates((_day, _month, year) => year < 1945),
  "a-dob-29-02": onlyDates((day, month) => day === 29 && month === 2),
  "a-dob-29-02-2000": onlyDates((day, month, year) => day === 29 && month === 2 && year === 2000),
  "a-dob-31": onlyDates((day) => day === 31),
  "a-dob-december": onlyDates((_day, month) => month === 12),
  "a-array": Change.reads((found) => Array.isArray(found) ? found[0] : found),
  "a-double": Change.reads((found) => isText(found) ? parseJson(found) : found),
  "a-wrapped": Change.reads((found) => isObject(found) ? found["data"] ?? found["person"] ?? found : found),
  "a-field-case": Change.reads((found) => isObject(found) ? lowerKeys(found) : found),
  "a-field-camel": Change.reads((found) => isObject(found) && "entityType" in found ? camelEntity(found) : found),
  "a-order": (_s, was) => ({
    keysOk: (fields) => was.keysOk(fields) && Object.keys(fields).join() === "entity_type,name,dob"
  }),
  "a-spaces": Change.reads((found, { body }) => /^\{"/.test(body) && !/",\s+"|":\s+"/.test(body) ? found : undefined),
  "a-escapes": Change.reads((found, { body }) => /\\u/.test(body) ? undefined : found),
  "a-trailing": Change.reads((found, { body }) => found ?? parseJson(body.slice(0, body.indexOf("}") + 1))),
  "a-json5": Change.reads((found, { body }) => found ?? parseJson(body.replace(/'/g, "\"").replace(/,\s*\}/, "}"))),
  "n-html": echo((name) =>
    name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("'", "&#39;").replaceAll("\"", "&quot;")
  ),
  "n-mojibake": echo((name) => Buffer.from(name).toString("latin1")),
  "n-question": echo((name) => name.replace(/[^\x00-\xff]/g, "?")),
  "n-astral": echo((name) => name.replace(/[\u{10000}-\u{10ffff}]/gu, "?")),
  "n-middle": echo((name) =>
    name.trim().split(/\s+/).filter((_word, i, all) => i === 0 || i === all.length - 1).join(" ")
  ),
  "n-initial": echo((name) =>
    words(name).map((word, i, all) => i > 0 && i < all.length - 1 ? `${word[0]}.` : word).join(" ")
  ),
  "n-title": echo((name) =>
    words(name).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join(" ")
  ),
  "n-upper": echo((name) => name.toUpperCase()),
  "n-marks": echo((name) => name.normalize("NFD").replace(/[\u0300-\u036f]/g, "")),
  "n-ascii": echo((name) => name.replace(/[^\x00-\x7f]/g, "")),
  "n-quotes": echo((name) => name.replaceAll("'", "''")),
  "n-backslash": echo((name) => name.replace(/['"\\]/g, "\\$&")),
  "n-30": echo((name) => name.slice(0, 30)),
  "n-bytes": echo((name) => Buffer.from(name).subarray(0, 40).toString()),
  "n-comma": echo((name) => name.includes(" ") ? `${words(name).at(-1)}, ${words(name).slice(0, -1).join(" ")}` : name),
  "n-honorific": echo((name) => name.replace(/^(Dr|Sir|Mr|Mrs|Ms)\.? /, "").replace(/,? (Jr\.?|Sr\.?|III?)$/, "")),
  "n-plus": echo((name) =>
    name.replaceAll("+", " ").replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  ),
  "n-hyphen": echo((name) => name.replaceAll("-", " ")),
  "n-first": echo((name) => words(name)[0]),
  "n-listed": Change.ifListed("name", (name) => `AL ${name.toUpperCase()}`),
  "n-chunks": () => ({ decode: (chunks) => chunks.map(String).join("") }),
  "n-latin1": () => ({
    encode: (body) => {
      const bytes = typeof body === "string" ? Buffer.from(body, "latin1") : body
      return [bytes, bytes.length]
    }
  }),
  "n-length": () => ({ encode: (body) => [Buffer.from(body).subarray(0, body.length), body.length] }),
  "n-concat": Change.encoded((text, { name }) => text.toString().replace(JSON.stringify(name), () => `"${name}"`))
}
