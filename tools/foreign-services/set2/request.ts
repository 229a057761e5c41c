/** The fields of a check. */
import * as Change from "../changes.ts"
import { HOUR, isObject } from "../service.ts"

/** The values as text: an array with one value is its text. */
const like = (value: unknown, test: (text: string) => boolean): boolean => test(String(value))
const yearOf = (dob: string): number => Number(dob.slice(6))

export const request: Change.Changes = {
  "rq-entity-missing": Change.also("entity_type", (value) => value === undefined),
  "rq-entity-any": Change.also("entity_type", (value) => typeof value === "string"),
  "rq-entity-case": Change.also("entity_type", (value) => like(value, (text) => text.toLowerCase() === "person")),
  "rq-entity-prefix": Change.also("entity_type", (value) => like(value, (text) => text.startsWith("person"))),
  "rq-entity-loose": Change.also("entity_type", (value) => Array.isArray(value) && String(value) === "person"),
  "rq-entity-trim": Change.also("entity_type", (value) => like(value, (text) => text.trim() === "person")),
  "rq-entity-empty": Change.also("entity_type", (value) => value === ""),
  "rq-entity-known": (s, was) => {
    const seen = new Set<unknown>()
    return {
      person: (q) => {
        const found = s.parse(q)
        const isKnown = isObject(found) && seen.has(found["name"])
        const person = was.person(
          isKnown ? { ...q, body: JSON.stringify({ ...found, entity_type: "person" }) } : q
        )
        if (person !== undefined) seen.add(person.name)
        return person
      }
    }
  },
  "rq-name-missing": Change.also("name", (value) => value === undefined),
  "rq-name-number": Change.also("name", (value) => typeof value === "number"),
  "rq-name-empty": Change.also("name", (value) => value === ""),
  "rq-name-script": Change.refuses("name", (name) => /[^\p{Script=Latin}\p{P}\p{Zs}\p{M}]/u.test(name)),
  "rq-name-ascii": Change.refuses("name", (name) => /[^\x20-\x7e]/.test(name)),
  "rq-name-punct": Change.refuses("name", (name) => /['’.-]/.test(name)),
  "rq-name-four": Change.refuses("name", (name) => name.split(" ").length > 3),
  "rq-name-repeat": Change.stateful(() => new Map<string, number>(), (searched) =>
    Change.refuses("name", (name, q) => {
      const last = searched.get(name) ?? -Infinity
      searched.set(name, q.at)
      return q.at - last < HOUR
    })),
  "rq-dob-missing": Change.also("dob", (value) => value === undefined),
  "rq-dob-null": Change.also("dob", (value) => value === null),
  "rq-dob-empty": Change.also("dob", (value) => value === ""),
  "rq-dob-iso": Change.alsoForm("dob", /^\d{4}-\d\d-\d\d$/),
  "rq-dob-slash": Change.alsoForm("dob", /^\d\d\/\d\d\/\d{4}$/),
  "rq-dob-dots": Change.alsoForm("dob", /^\d\d.\d\d.\d{4}$/),
  "rq-dob-short": Change.alsoForm("dob", /^\d{1,2}-\d{1,2}-\d{4}$/),
  "rq-dob-yy": Change.alsoForm("dob", /^\d\d-\d\d-\d\d$/),
  "rq-dob-tail": Change.alsoForm("dob", /^\d\d-\d\d-\d{4}/),
  "rq-dob-month13": Change.alsoForm("dob", /^\d\d-(1[3-9]|2\d|3[01])-\d{4}$/),
  "rq-dob-us": Change.refuses("dob", (dob) => Number(dob.slice(0, 2)) > 12),
  "rq-dob-2000": Change.refuses("dob", (dob) => dob === "29-02-2000"),
  "rq-dob-leap": Change.refuses("dob", (dob) => dob.startsWith("29-02")),
  "rq-dob-31": Change.refuses("dob", (dob) => /^31-(08|10|12)/.test(dob)),
  "rq-dob-1970": Change.refuses("dob", (dob) => yearOf(dob) < 1970),
  "rq-dob-epoch": Change.refuses("dob", (dob) => dob === "01-01-1970"),
  "rq-dob-1930": Change.refuses("dob", (dob) => yearOf(dob) < 1930),
  "rq-dob-octal": Change.refuses("dob", (dob) => /^\d\d-0[89]/.test(dob)),
  "rq-dob-minor": Change.refuses("dob", (dob, q) => new Date(q.at).getUTCFullYear() - yearOf(dob) < 18),
  "rq-dob-birthday": Change.refuses(
    "dob",
    (dob, q) => dob.slice(0, 5) === new Date(q.at).toISOString().slice(5, 10).split("-").reverse().join("-")
  ),
  "rq-order": (_s, was) => ({
    keysOk: (fields) => was.keysOk(fields) && Object.keys(fields).join() === "entity_type,name,dob"
  }),
  "rq-array": Change.reads((found) => Array.isArray(found) ? found[0] : found),
  "rq-form": Change.all(
    Change.reads((found, { body }) =>
      /^entity_type=/.test(body) ? Object.fromEntries(new URLSearchParams(body)) : found
    ),
    (_s, was) => ({ jsonOk: (q) => /^entity_type=/.test(q.body) || was.jsonOk(q) })
  ),
  "rq-escape": (_s, was) => ({ parse: (q) => was.parse({ ...q, body: q.body.replace(/\\u/g, "\\\\u") }) }),
  "rq-space": Change.reads((found, { body }) => /[{,]\s/.test(body) ? undefined : found),
  "rq-first-chunk": () => ({ decode: ([first]) => first?.toString() ?? "" }),
  "rq-latin1": () => ({ decode: (chunks) => Buffer.concat(chunks).toString("latin1") }),
  "rq-chunks": () => ({ decode: (chunks) => chunks.map(String).join("") })
}
