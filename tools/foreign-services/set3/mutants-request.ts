// Fields of the AML request, and the echo of the name.
import { area, type Mutant } from "./define.ts"
import { S } from "./doc.ts"
import { type Rq, type Strict } from "./strict.ts"

const a = area("AML request")
const n = area("echo")
const entity = (s: Strict, more: (v: any) => boolean) => {
  s.entityOk = (v) => v === "person" || more(v)
}
/** Names that are taken after a change of their type, as a lenient framework does. */
const coerce = (s: Strict, ok: (v: any) => boolean, to: (v: any) => string) => {
  const parse = s.parse.bind(s)
  s.parse = (q) => {
    const o = parse(q)
    return o && typeof o === "object" && !Array.isArray(o) && ok(o.name) ? { ...o, name: to(o.name) } : o
  }
}
/** Dates in one more form: the match's groups d, m and y. */
const form = (s: Strict, re: RegExp) => {
  const [dobOk, year] = [s.dobOk.bind(s), s.year.bind(s)]
  const y = (v: string) => {
    const g = re.exec(v)?.groups?.["y"]
    return g === undefined ? undefined : g.length === 2 ? "19" + g : g
  }
  s.dobOk = (v) => dobOk(v) || (typeof v === "string" && re.test(v))
  s.year = (v) => dobOk(v) ? year(v) : y(v) ?? "1900"
}
const alsoDob = (s: Strict, ok: (v: any) => boolean, year: (v: any) => string) => {
  const [dobOk, was] = [s.dobOk.bind(s), s.year.bind(s)]
  s.dobOk = (v) => dobOk(v) || ok(v)
  s.year = (v) => dobOk(v) ? was(v) : year(v)
}
const notDob = (s: Strict, bad: (d: number, m: number, y: number) => boolean) => {
  const was = s.dobOk.bind(s)
  s.dobOk = (v) => was(v) && !bad(Number(v.slice(0, 2)), Number(v.slice(3, 5)), Number(v.slice(6)))
}
const notName = (s: Strict, good: RegExp) => {
  const was = s.nameOk.bind(s)
  s.nameOk = (v) => was(v) && good.test(v)
}
const shape = (s: Strict, f: (o: any, q: Rq) => any) => {
  const was = s.parse.bind(s)
  s.parse = (q) => f(was(q), q)
}
const echo = (id: string, what: string, f: (name: string) => string) =>
  n(id, S.rName, what, (s) => {
    s.echo = f
  })

export const request: ReadonlyArray<Mutant> = [
  a("a-entity-absent", S.entity, "entity_type has the default person", (s) => entity(s, (v) => v === undefined)),
  a("a-entity-null", S.entity, "null is the default person", (s) => entity(s, (v) => v === null)),
  a("a-entity-empty", S.entity, "an empty string is the default person", (s) => entity(s, (v) => v === "")),
  a("a-entity-any", S.individuals, "entity_type is only logged", (s) => entity(s, () => true)),
  a("a-entity-company", S.individuals, "company is accepted for the sake of a coming feature", (s) =>
    entity(s, (v) => ["company", "organisation", "organization", "business"].includes(v))),
  a("a-entity-synonym", S.entity, "individual and natural_person are accepted", (s) =>
    entity(s, (v) => ["individual", "natural_person", "natural person"].includes(v))),
  a("a-entity-case", S.entity, "an enum parsed without regard to case", (s) => entity(s, (v) => typeof v === "string" && v.toLowerCase() === "person")),
  a("a-entity-prefix", S.entity, "startsWith: personal and person_v2 are person", (s) => entity(s, (v) => typeof v === "string" && v.startsWith("person"))),
  a("a-entity-trim", S.entity, "spaces around person do not count", (s) => entity(s, (v) => typeof v === "string" && v.trim() === "person")),
  a("a-entity-array", S.entity, "== instead of ===: [\"person\"] is person", (s) => entity(s, (v) => v == "person")),
  a("a-entity-true", S.entity, "a loose comparison of PHP: true is person", (s) => entity(s, (v) => v === true || v === 0)),
  a("a-entity-number", S.entity, "the ordinal of the enum is accepted: 0 or 1", (s) => entity(s, (v) => v === 0 || v === 1)),

  a("a-name-absent", S.name, "without a name the search is for a placeholder", (s) => coerce(s, (v) => v === undefined, () => "N/A")),
  a("a-name-null", S.name, "null becomes the text null", (s) => coerce(s, (v) => v === null, () => "null")),
  a("a-name-empty", S.name, "an empty name is searched", (s) => {
    s.nameOk = (v) => typeof v === "string"
  }),
  a("a-name-blank", S.name, "a name of spaces is searched", (s) => {
    s.nameOk = (v) => typeof v === "string" && v !== ""
  }),
  a("a-name-number", S.name, "a number is turned into a string", (s) => coerce(s, (v) => typeof v === "number", String)),
  a("a-name-true", S.name, "true is turned into a string", (s) => coerce(s, (v) => typeof v === "boolean", String)),
  a("a-name-array", S.name, "an array of names is joined", (s) => coerce(s, Array.isArray, (v) => v.join(" "))),
  a("a-name-object", S.name, "an object with first and last is accepted", (s) =>
    coerce(s, (v) => typeof v === "object" && v !== null && !Array.isArray(v), (v) => Object.values(v).join(" "))),
  a("a-name-one-word", S.name, "a full name of one word (Sukarno) is refused", (s) => notName(s, /\S\s+\S/)),
  a("a-name-middle", S.name, "first and last name only: a third word is refused", (s) => notName(s, /^\s*\S+(\s+\S+)?\s*$/)),
  a("a-name-four", S.name, "at most three words: two middle names are refused", (s) => notName(s, /^\s*\S+(\s+\S+){0,2}\s*$/)),
  a("a-name-marks", S.name, "letters with marks are refused (pattern [A-Za-z])", (s) => notName(s, /^[\x20-\x7e]*$/)),
  a("a-name-latin", S.name, "names in other scripts than Latin are refused", (s) => notName(s, /^[\u0020-\u024f\u1e00-\u1eff\u2010-\u2019]*$/)),
  a("a-name-apostrophe", S.name, "an apostrophe is refused by the filter against SQL injection", (s) => notName(s, /^[^']*$/)),
  a("a-name-hyphen", S.name, "a hyphen is refused", (s) => notName(s, /^[^-]*$/)),
  a("a-name-dot", S.name, "a dot (Jr., St.) is refused", (s) => notName(s, /^[^.]*$/)),
  a("a-name-keyword", S.name, "the firewall refuses words of SQL: Union, Select, Drop", (s) => notName(s, /^(?!.*\b(union|select|drop|null)\b)/i)),
  a("a-name-short", S.name, "a part of one letter (O, an initial) is refused", (s) => notName(s, /^\S{2,}(\s+\S{2,})*$/)),

  a("a-dob-absent", S.dob, "a check without dob is done by name", (s) => alsoDob(s, (v) => v === undefined, () => "1900")),
  a("a-dob-null", S.dob, "dob null is no dob", (s) => alsoDob(s, (v) => v === null, () => "1900")),
  a("a-dob-empty", S.dob, "dob \"\" is no dob", (s) => alsoDob(s, (v) => v === "", () => "1900")),
  a("a-dob-number", S.dob, "a number is a year or a time stamp", (s) => alsoDob(s, (v) => typeof v === "number", (v) => v < 3000 ? String(v) : "1970")),
  a("a-dob-year", S.dob, "a year alone is accepted", (s) => form(s, /^(?<y>\d{4})$/)),
  a("a-dob-iso", S.dob, "yyyy-mm-dd is accepted as well", (s) => form(s, /^(?<y>\d{4})-\d\d-\d\d$/)),
  a("a-dob-slash", S.dob, "slashes are accepted as well", (s) => form(s, /^\d\d\/\d\d\/(?<y>\d{4})$/)),
  a("a-dob-dots", S.dob, "dots and spaces are accepted as well", (s) => form(s, /^\d\d[. ]\d\d[. ](?<y>\d{4})$/)),
  a("a-dob-compact", S.dob, "ddmmyyyy is accepted as well", (s) => form(s, /^\d{4}(?<y>\d{4})$/)),
  a("a-dob-month-name", S.dob, "01-Feb-1990 is accepted as well (a date library guesses)", (s) => form(s, /^\d\d-[A-Z][a-z]{2}-(?<y>\d{4})$/)),
  a("a-dob-any-dash", S.dob, "[/.-] was written [+--]: the separator may be a comma or a plus", (s) => form(s, /^\d\d[+--]\d\d[+--](?<y>\d{4})$/)),
  a("a-dob-us", S.dob, "mm-dd-yyyy: the 31st of December is refused, 12-31 accepted", (s) => {
    const was = s.dobOk.bind(s)
    s.dobOk = (v) => typeof v === "string" && was(v.replace(/^(\d\d)-(\d\d)-(\d{4})$/, "$2-$1-$3"))
  }),
  a("a-dob-us-too", S.dob, "12-31-1990 is accepted too: day and month are swapped where it helps", (s) => form(s, /^(0[1-9]|1[0-2])-(1[3-9]|2\d|3[01])-(?<y>\d{4})$/)),
  a("a-dob-short", S.dob, "1-2-1990 is accepted", (s) => form(s, /^\d{1,2}-\d{1,2}-(?<y>\d{4})$/)),
  a("a-dob-yy", S.dob, "a year of two digits is accepted", (s) => form(s, /^\d\d-\d\d-(?<y>\d\d)$/)),
  a("a-dob-end", S.dob, "the pattern has no $: a time or a fifth digit may follow", (s) => form(s, /^\d\d-\d\d-(?<y>\d{4})/)),
  a("a-dob-start", S.dob, "the pattern has no ^: something may precede", (s) => form(s, /\d\d-\d\d-(?<y>\d{4})$/)),
  a("a-dob-newline", S.dob, "$ also matches before a line feed at the end (Python, Ruby)", (s) => form(s, /^\d\d-\d\d-(?<y>\d{4})\n?$/)),
  a("a-dob-digits", S.dob, "\\d matches digits of all scripts (.NET, Python): Arabic digits are accepted", (s) => form(s, /^\p{Nd}{2}-\p{Nd}{2}-(?<y>\p{Nd}{4})$/u)),
  a("a-dob-trim", S.dob, "spaces around the date do not count", (s) => form(s, /^\s*\d\d-\d\d-(?<y>\d{4})\s*$/)),
  a("a-dob-month-13", S.dob, "a month 13 rolls over (a lenient date library)", (s) => form(s, /^[0-3]\d-(1[3-9]|[2-9]\d)-(?<y>\d{4})$/)),
  a("a-dob-day-32", S.dob, "a day 32 and later rolls over", (s) => form(s, /^(3[2-9]|[4-9]\d)-(0[1-9]|1[0-2])-(?<y>\d{4})$/)),
  a("a-dob-zero", S.dob, "00-00-yyyy stands for an unknown day", (s) => form(s, /^00-(00|0[1-9]|1[0-2])-(?<y>\d{4})$/)),
  a("a-dob-letters", S.dob, "parseInt reads what it can: 1x-02-1990", (s) => form(s, /^\w{2}-\w{2}-(?<y>\w{4})$/)),
  a("a-dob-array", S.dob, "an array with one date is its text", (s) => alsoDob(s, (v) => Array.isArray(v) && s.dateOk(/^(\d{2})-(\d{2})-(\d{4})$/.exec(String(v))), (v) => String(v).slice(6))),
  a("a-dob-octal", S.dob, "08 and 09 are read as octal numbers and refused", (s) => notDob(s, (d, mo) => [d, mo].some((v) => v === 8 || v === 9))),
  a("a-dob-1970", S.dob, "a date before 1970 is a negative time stamp and refused", (s) => notDob(s, (_d, _m, y) => y < 1970)),
  a("a-dob-2000", S.dob, "the pattern is 19\\d\\d: who was born in this century is refused", (s) => notDob(s, (_d, _m, y) => y >= 2000)),
  a("a-dob-1940", S.dob, "who is older than 80 is refused by the form's list of years", (s) => notDob(s, (_d, _m, y) => y < 1945)),
  a("a-dob-29-02", S.dob, "the days of months are a constant table: 29-02 is always refused", (s) => notDob(s, (d, mo) => d === 29 && mo === 2)),
  a("a-dob-29-02-2000", S.dob, "years divisible by 100 are no leap years, 2000 neither", (s) => notDob(s, (d, mo, y) => d === 29 && mo === 2 && y === 2000)),
  a("a-dob-31", S.dob, "the 31st is refused (d < 31)", (s) => notDob(s, (d) => d === 31)),
  a("a-dob-december", S.dob, "December is month 12 of 0 to 11 and refused", (s) => notDob(s, (_d, mo) => mo === 12)),

  a("a-array", S.json, "an array with the object is unwrapped", (s) => shape(s, (o) => Array.isArray(o) ? o[0] : o)),
  a("a-double", S.json, "a JSON string with the object in it is parsed again", (s) =>
    shape(s, (o) => {
      try {
        return typeof o === "string" ? JSON.parse(o) : o
      } catch {
        return undefined
      }
    })),
  a("a-wrapped", S.json, "the fields may be inside data or person", (s) => {
    shape(s, (o) => o?.data ?? o?.person ?? o)
  }),
  a("a-field-case", S.json, "names of fields are read without regard to case (Go, .NET): NAME and Dob will do", (s) =>
    shape(s, (o) => o && typeof o === "object" && !Array.isArray(o) ? Object.fromEntries(Object.entries(o).map(([k, v]) => [k.toLowerCase(), v])) : o)),
  a("a-field-camel", S.json, "entityType is accepted for entity_type", (s) =>
    shape(s, (o) => o && typeof o === "object" && "entityType" in o ? (({ entityType, ...rest }) => ({ entity_type: entityType, ...rest }))(o) : o)),
  a("a-order", S.json, "a hand-written parser wants the fields in the order of the table", (s) => {
    const was = s.keysOk.bind(s)
    s.keysOk = (o) => was(o) && Object.keys(o).join() === "entity_type,name,dob"
  }),
  a("a-spaces", S.json, "a hand-written parser wants no space between the parts of the object", (s) =>
    shape(s, (o, q) => /^\{"/.test(q.text) && !/",\s+"|":\s+"/.test(q.text) ? o : undefined)),
  a("a-escapes", S.json, "a hand-written parser does not know \\u escapes", (s) => shape(s, (o, q) => /\\u/.test(q.text) ? undefined : o)),
  a("a-trailing", S.json, "what follows the closing brace is not read", (s) =>
    shape(s, (o, q) => {
      try {
        return o ?? JSON.parse(q.text.slice(0, q.text.indexOf("}") + 1))
      } catch {
        return undefined
      }
    })),
  a("a-json5", S.json, "single quotes and trailing commas are accepted (the body is evaluated as YAML)", (s) =>
    shape(s, (o, q) => {
      try {
        return o ?? JSON.parse(q.text.replace(/'/g, "\"").replace(/,\s*\}/, "}"))
      } catch {
        return undefined
      }
    })),

  echo("n-html", "the name is escaped for HTML: O&#39;Brien", (v) => v.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/'/g, "&#39;").replace(/"/g, "&quot;")),
  echo("n-mojibake", "UTF-8 is read as Latin-1: JosÃ©", (v) => Buffer.from(v).toString("latin1")),
  echo("n-question", "the column is Latin-1: other letters become question marks", (v) => v.replace(/[^\x00-\xff]/g, "?")),
  echo("n-astral", "MySQL's utf8 of three bytes: characters beyond the BMP become question marks", (v) => v.replace(/[\u{10000}-\u{10ffff}]/gu, "?")),
  echo("n-middle", "first and last word only: middle names are lost", (v) => v.trim().split(/\s+/).filter((_, i, w) => i === 0 || i === w.length - 1).join(" ")),
  echo("n-initial", "middle names become initials", (v) => v.split(" ").map((w, i, all) => i > 0 && i < all.length - 1 ? w[0] + "." : w).join(" ")),
  echo("n-title", "every word is written with one capital: Mcdonald, Von, O'brien", (v) => v.split(" ").map((w) => w.slice(0, 1).toUpperCase() + w.slice(1).toLowerCase()).join(" ")),
  echo("n-upper", "the name is in capitals, as the lists are", (v) => v.toUpperCase()),
  echo("n-marks", "marks are removed: Jose", (v) => v.normalize("NFD").replace(/[\u0300-\u036f]/g, "")),
  echo("n-ascii", "what is not ASCII is removed", (v) => v.replace(/[^\x00-\x7f]/g, "")),
  echo("n-quotes", "apostrophes are doubled for SQL: O''Brien", (v) => v.replace(/'/g, "''")),
  echo("n-backslash", "apostrophes and quotation marks get a backslash (addslashes)", (v) => v.replace(/['"\\]/g, "\\$&")),
  echo("n-30", "the column has 30 characters", (v) => v.slice(0, 30)),
  echo("n-bytes", "the column has 40 bytes, and the last letter may be cut", (v) => Buffer.from(v).subarray(0, 40).toString()),
  echo("n-comma", "LAST, First Middle", (v) => v.includes(" ") ? `${v.split(" ").at(-1)}, ${v.split(" ").slice(0, -1).join(" ")}` : v),
  echo("n-honorific", "Dr, Sir, Jr. and III are removed", (v) => v.replace(/^(Dr|Sir|Mr|Mrs|Ms)\.? /, "").replace(/,? (Jr\.?|Sr\.?|III?)$/, "")),
  echo("n-plus", "the name is decoded as a form: a plus becomes a space, %20 too", (v) => v.replace(/\+/g, " ").replace(/%([0-9a-f]{2})/gi, (_, h) => String.fromCharCode(parseInt(h, 16)))),
  echo("n-hyphen", "hyphens become spaces", (v) => v.replace(/-/g, " ")),
  echo("n-first", "only the first name is returned", (v) => v.split(" ")[0]!),
  n("n-listed", S.rName, "for a potential match the name is that of the list's entry, not the person searched", (s) => {
    const was = s.attributes.bind(s)
    s.attributes = (p, z, q) => s.listed(p.name) ? { ...was(p, z, q), name: "AL " + p.name.toUpperCase() } : was(p, z, q)
  }),
  n("n-chunks", S.rName, "body += chunk: a letter split between two packets is destroyed", (s) => {
    s.decode = (chunks) => chunks.map(String).join("")
  }),
  n("n-length", S.answer, "Content-Length counts characters, so an answer with other letters than ASCII is cut off", (s) => {
    s.encode = (x) => [Buffer.from(x.body), x.body.length]
  }),
  n("n-concat", S.answer, "the answer is put together from text: a quotation mark in the name breaks the JSON", (s) => {
    s.text = (v: any) => JSON.stringify(v).replace(JSON.stringify(v.credentials.attributes.name), () => `"${v.credentials.attributes.name}"`)
  }),
  n("n-latin1", S.rName, "the answer is written as Latin-1", (s) => {
    s.encode = (x) => [Buffer.from(x.body, "latin1"), Buffer.from(x.body, "latin1").length]
  })
]
