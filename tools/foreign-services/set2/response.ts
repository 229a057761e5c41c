/** The credential, the time and the result of a search, and what one request leaves behind for another. */
import { Effect } from "effect"
import * as Change from "../changes.ts"
import { type Check, formatTime, HOUR, isObject, type Json, type JsonObject, MINUTE } from "../service.ts"

const DAY = 24 * HOUR
const two = (number: number): string => String(number).padStart(2, "0")
const words = (name: string): ReadonlyArray<string> => name.split(" ")
const named = (change: (name: string) => Json): Change.Change => Change.field("name", change)
const year = (change: (found: string, dob: string, check: Check) => Json): Change.Change =>
  Change.field("birth_year", (found, check) => change(found, check.dob, check))
const time = (change: (date: Date, found: string, check: Check) => Json): Change.Change =>
  Change.field("searched_on", (found, check) => change(new Date(check.request.at), found, check))
const yearAt = (at: number): string => String(new Date(at).getUTCFullYear())
const identity = ({ dob, name }: Check): string => name + dob
/** A field of each n-th credential. */
const each = (n: number, name: string, value: (found: string) => Json): Change.Change =>
  Change.stateful(
    () => Change.every(n),
    (isTurn) => Change.field(name, (found) => isTurn() ? value(found) : found)
  )
export const response: Change.Changes = {
  "cr-type-upper": Change.sets("credential_type", "AML"),
  "cr-type-hit": Change.ifListed("credential_type", () => "aml_match"),
  "cr-name-lower": Change.sets("credential_name", "aml"),
  "cr-name-long": Change.ifNotListed("credential_name", () => "AML Check"),
  "cr-issued-null": Change.ifListed("issued_by", () => null),
  "cr-issued-object": Change.field("issued_by", (name) => ({ name })),
  "cr-issuer-plain": Change.field("issuer_id", (found) => found.replaceAll("-", "")),
  "cr-issuer-urn": Change.ifListed("issuer_id", (found) => `urn:uuid:${found}`),
  "cr-issuer-short": each(4, "issuer_id", (found) => found.replace("-0a", "-a")),
  "cr-version-number": Change.sets("cred_version", 1.5),
  "cr-version-major": Change.sets("cred_version", "1"),
  "cr-version-patch": Change.ifListed("cred_version", () => "1.0.0"),
  "cr-version-tenth": each(10, "cred_version", () => undefined),
  "cr-credentials-array": Change.credential((found, _attributes, { match }) =>
    match ? { ...found, credentials: [found["credentials"]] } : found
  ),
  "cr-attributes-text": Change.credential((found, attributes) => ({
    ...found,
    credentials: { attributes: JSON.stringify(attributes) }
  })),
  "cr-attributes-up": Change.credential((found, attributes, { match }) =>
    match ? found : { ...found, credentials: {}, attributes }
  ),
  "cr-wrapped": Change.credential((found, _attributes, { token }) => token.uses > 1 ? { data: found } : found),
  "cr-length": () => ({ encode: (body) => [Buffer.from(body), body.length] }),
  "nm-middle": named((name) => words(name).length > 2 ? `${words(name)[0]} ${words(name).at(-1)}` : name),
  "nm-three": named((name) => {
    const [first, second] = words(name)
    return words(name).length > 3 ? `${first} ${second} ${words(name).at(-1)}` : name
  }),
  "nm-initials": Change.ifListed(
    "name",
    (name) => words(name).map((word, i, all) => i > 0 && i < all.length - 1 ? `${word[0]}.` : word).join(" ")
  ),
  "nm-twice": named((name) => [...new Set(words(name))].join(" ")),
  "nm-accents": named((name) => name.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC")),
  "nm-question": named((name) => name.replace(/[^\x00-\xff]/g, "?")),
  "nm-astral": named((name) => name.replace(/[\u{10000}-\u{10ffff}]/gu, "\ufffd")),
  "nm-html": named((name) => name.replaceAll("&", "&amp;").replaceAll("'", "&#39;")),
  "nm-hyphen": named((name) => name.replaceAll("-", " ")),
  "nm-forty": named((name) => name.slice(0, 40)),
  "nm-bytes": named((name) => Buffer.from(name).subarray(0, 40).toString("utf8").replace(/\ufffd$/, "")),
  "nm-order": named((name) =>
    /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(name) ? [...words(name)].reverse().join(" ") : name
  ),
  "nm-comma": Change.ifListed(
    "name",
    (name) => name.includes(" ") ? `${words(name).at(-1)}, ${words(name).slice(0, -1).join(" ")}` : name
  ),
  "nm-single": named((name) => name.includes(" ") ? name : `- ${name}`),
  "nm-escapes": named((name) => name.replaceAll("\"", "\\\"")),
  "by-number": year(Number),
  "by-two": year((found) => found < "2000" ? found.slice(2) : found),
  "by-19": year((found) => `19${found.slice(2)}`),
  "by-pivot": year((found, _dob, { request }) =>
    (found.slice(2) <= yearAt(request.at).slice(2) ? "20" : "19") + found.slice(2)
  ),
  "by-jan1": year((_found, dob) => yearAt(Change.midnight(dob) - HOUR)),
  "by-dec31": year((_found, dob) => yearAt(Change.midnight(dob) + DAY)),
  "by-week": year((_found, dob) => Change.weekYear(Change.midnight(dob))),
  "by-age": year((found, dob, { request }) => {
    const hadBirthday = new Date(request.at).toISOString().slice(5, 10) >= `${dob.slice(3, 5)}-${dob.slice(0, 2)}`
    return String(Number(found) + (hadBirthday ? 0 : 1))
  }),
  "by-us": year((_found, dob) => yearAt(Date.UTC(+dob.slice(6), +dob.slice(0, 2) - 1, +dob.slice(3, 5)))),
  "by-days": year((_found, dob) =>
    String(1900 + Math.floor((Change.midnight(dob) - Date.UTC(1900, 0, 1)) / DAY / 365))
  ),
  "by-full": year((found, dob) => found < "1970" ? dob : found),
  "mf-lower": Change.verdict("potential match", "No"),
  "mf-capital": Change.verdict("Potential Match", "No"),
  "mf-nomatch": Change.verdict("Potential match", "No match"),
  "mf-boolean": Change.verdict("Potential match", false),
  "mf-kind": Change.field("match_found", (found, { name }) => name.includes("Testsanction") ? "Sanction match" : found),
  "mf-confirmed": Change.stateful(
    () => new Set<string>(),
    (seen) =>
      Change.field("match_found", (found, { match, name }) => {
        const isConfirmed = match && seen.has(name)
        seen.add(name)
        return isConfirmed ? "Confirmed match" : found
      })
  ),
  "mf-absent": Change.verdict("Potential match", undefined),
  "mf-pending": Change.again("match_found", identity, (found, isKnown) => isKnown ? found : "Pending"),
  "ap-absent": Change.ifNotListed("aml_profile", () => undefined),
  "ap-script": Change.field("aml_profile", (found, { name }) => /[a-z]/i.test(name) ? found : undefined),
  "ap-repeat": Change.again("aml_profile", identity, (found, isKnown) => isKnown ? undefined : found),
  "ap-null": Change.ifNotListed("aml_profile", () => null),
  "ap-empty": Change.ifNotListed("aml_profile", () => ""),
  "ap-relative": Change.field("aml_profile", (found) => new URL(found).pathname),
  "ap-host": Change.field("aml_profile", (found) => found.replace("https://", "")),
  "ap-raw-name": Change.field("aml_profile", (_found, { name }) => `https://profiles.example.test/aml?name=${name}`),
  "ap-object": Change.ifListed("aml_profile", (url) => ({ url })),
  "ap-list": Change.ifListed("aml_profile", (url) => [url]),
  "ap-token-hour": Change.field(
    "aml_profile",
    (found, { request, token }) => request.at - token.at > 50 * MINUTE ? null : found
  ),
  "so-t": time((_date, found) => found.replace(" ", "T")),
  "so-fraction": time((date, found) => date.getUTCMilliseconds() > 0 ? `${found}.${date.getUTCMilliseconds()}` : found),
  "so-12h": time((date, found) => `${found.slice(0, 11)}${two(date.getUTCHours() % 12 || 12)}${found.slice(13)}`),
  "so-hour-pad": time((date, found) => `${found.slice(0, 11)}${date.getUTCHours()}${found.slice(13)}`),
  "so-day-pad": time((date, found) => `${found.slice(0, 8)}${date.getUTCDate()}${found.slice(10)}`),
  "so-sec-pad": time((date, found) => `${found.slice(0, 17)}${date.getUTCSeconds()}`),
  "so-month0": time((date, found) => `${found.slice(0, 5)}${two(date.getUTCMonth())}${found.slice(7)}`),
  "so-24": time((_date, found) => found.replace(/ 00:/, " 24:")),
  "so-mm": time((date, found) => `${found.slice(0, 14)}${two(date.getUTCMonth() + 1)}${found.slice(16)}`),
  "so-sec0": time((_date, found) => `${found.slice(0, 17)}00`),
  "so-round60": time((date, found) => found.slice(0, 17) + two(Math.round(date.getTime() % MINUTE / 1000))),
  "so-swap": time((_date, found) => `${found.slice(0, 5)}${found.slice(8, 10)}-${found.slice(5, 7)}${found.slice(10)}`),
  "so-order": time((_date, found) =>
    `${found.slice(8, 10)}-${found.slice(5, 7)}-${found.slice(0, 4)}${found.slice(10)}`
  ),
  "so-unix": time((date) => Math.floor(date.getTime() / 1000)),
  "so-week-year": time((date, found) => Change.weekYear(date.getTime()) + found.slice(4)),
  "so-two-zones": time((date, found) => formatTime(date.getTime() + 2 * HOUR).slice(0, 10) + found.slice(10)),
  "so-zone-late": time((date, found) => `${found.slice(0, 11)}${two(date.getUTCHours() + 2)}${found.slice(13)}`),
  "so-token": time((_date, _found, { token }) => formatTime(token.at)),
  "so-start": Change.cached(() => "", Infinity, ["searched_on"]),
  "so-person": Change.cached(identity, Infinity, ["searched_on"]),
  "so-lag": Change.stateful(
    (): { last: string | undefined } => ({ last: undefined }),
    (state) =>
      time((_date, found) => {
        const { last = found } = state
        state.last = found
        return last
      })
  ),
  "so-conn-date": Change.stateful(
    () => Change.memory<number, string>(),
    (first) =>
      time((_date, found, { request }) => first(request.connection, () => found.slice(0, 10)) + found.slice(10))
  ),
  "so-date": Change.field("searched_on", (found, _check, s) => formatTime(s.started).slice(0, 10) + found.slice(10)),
  "so-hour-cache": Change.stateful(() => ({ at: -Infinity }), (state) =>
    time((date, found) => {
      if (date.getTime() - state.at >= HOUR) state.at = date.getTime()
      return formatTime(state.at).slice(0, 13) + found.slice(13)
    })),
  "so-null": Change.ifNotListed("searched_on", () => null),
  "so-hit-date": Change.ifListed("searched_on", (found) => found.slice(0, 10)),
  "ma-pep": Change.decides((found, { name }) => found && !name.includes("Testpep")),
  "ma-sanction": Change.decides((found, { name }) => found && !name.includes("Testsanction")),
  "ma-sticky": Change.stateful(
    () => ({ hit: false }),
    (state) => Change.decides((found) => (state.hit = state.hit || found))
  ),
  "ma-conn": Change.stateful(() => new Map<number, boolean>(), (hits) =>
    Change.decides((found, { request }) => {
      const hit = hits.get(request.connection) ?? false
      hits.set(request.connection, found)
      return hit || found
    })),
  "ma-token": Change.stateful(
    () => Change.memory<string, boolean>(),
    (first) => Change.decides((found, { token }) => first(token.value, () => found))
  ),
  "ma-once": Change.stateful(() => new Set<string>(), (seen) =>
    Change.decides((found, { dob, name }) => {
      const isFirst = !seen.has(name + dob)
      seen.add(name + dob)
      return found && isFirst
    })),
  "ma-first-name": Change.stateful(
    () => Change.memory<string, boolean>(),
    (first) => Change.decides((found, { name }) => first(words(name)[0] ?? "", () => found))
  ),
  "ma-dob": Change.stateful(
    () => Change.memory<string, boolean>(),
    (first) => Change.decides((found, { dob }) => first(dob, () => found))
  ),
  "ma-middle": Change.decides((found, { name }) => found && words(name).length <= 2),
  "ma-script": Change.decides((found, { name }) => found && !/[^\x00-\u024f]/.test(name)),
  "ma-old": Change.decides((found, { dob }) => found && dob.slice(6) >= "1940"),
  "ma-2000": Change.decides((found, { dob }) => found && dob.slice(6) < "2000"),
  "ma-tenth": Change.stateful(
    () => Change.every(10),
    (isTenth) => Change.decides((found) => !isTenth() && found)
  ),
  "ma-hour": Change.decides((found, { request }, s) => found && request.at - s.started < HOUR),
  "ma-rebuild": Change.decides((found, { request }) => found && request.at % DAY >= 30 * MINUTE),
  "ma-full-hour": Change.decides((found, { request }) => found || request.at % HOUR < MINUTE),
  "ma-second-token": Change.decides((found, { token }, s) => found && [...s.tokens.keys()][0] === token.value),
  "ma-after-bad": (_s, was) => {
    let isBad = false
    return {
      person: (q) => {
        const person = was.person(q)
        isBad = isBad || person === undefined
        return person
      },
      matches: (check) => {
        const found = isBad || was.matches(check)
        isBad = false
        return found
      }
    }
  },
  "st-shared-person": (s) => {
    let current: Check
    return {
      search: (check) => {
        current = check
        return Effect.map(Effect.sleep(25), () => {
          const answer = s.answer({ ...current, request: check.request, token: check.token })
          return s.reply("credential", answer, check.request)
        })
      }
    }
  },
  "st-name-by-year": Change.cached(({ dob }) => dob, Infinity, ["name"]),
  "st-conn-name": Change.cached(({ request }) => String(request.connection), Infinity, ["name"]),
  "st-buffer": Change.stateful(
    () => ({ text: "" }),
    (buffer) => named((name) => (buffer.text = name + buffer.text.slice(name.length)))
  ),
  "st-refused-leak": (s, was) => {
    let left: Json
    return {
      person: (q) => {
        const person = was.person(q)
        const found = s.parse(q)
        if (person === undefined) left = isObject(found) ? found["name"] : undefined
        return person
      },
      attributes: (check) => {
        const found = was.attributes(check)
        const name = left ?? found["name"]
        left = undefined
        return { ...found, name }
      }
    }
  },
  "st-token-name": Change.cached(({ token }) => token.value, Infinity, ["name"]),
  "st-first-last": Change.cached(({ name }) => `${words(name)[0]}|${words(name).at(-1)}`, Infinity, ["name"]),
  "st-shared-name": (s, was) => {
    let current = ""
    return {
      lists: ({ name }) => {
        current = name
        return Effect.sleep(25)
      },
      attributes: (check) => was.attributes({ ...check, match: s.listed(current) })
    }
  },
  "st-join": Change.joined(({ name }) => name, 25),
  "st-year-by-name": Change.cached(({ name }) => name, Infinity, ["birth_year"]),
  "st-hash": Change.cached(({ dob, name }) => name.length + dob.slice(0, 6), Infinity, ["birth_year"]),
  "st-fifth": (s, was) => ({
    search: (check) =>
      s.searches > 4
        ? Effect.sync(() => s.reply("credential", "{}", check.request))
        : Effect.zipRight(Effect.sleep(25), was.search(check))
  }),
  "st-conn-ten": (_s, was) => {
    const last = new Map<number, readonly [count: number, attributes: JsonObject]>()
    return {
      attributes: (check) => {
        const { connection } = check.request
        const [count, old] = last.get(connection) ?? [0, {}]
        const attributes = count === 9 ? old : was.attributes(check)
        last.set(connection, [count + 1, attributes])
        return attributes
      }
    }
  },
  "st-day-cache": Change.cached(({ name }) => name, HOUR),
  "st-bad-dob-cached": (s, was) => {
    const good = new Set<Json>()
    return {
      person: (q) => {
        const person = was.person(q)
        if (person !== undefined) good.add(person.name)
        const { dob, entity_type: entity, name } = s.fields(q) ?? {}
        const isKept = good.has(name) && entity === "person" && typeof dob === "string"
        return person ?? (isKept ? { name: String(name), dob } : undefined)
      }
    }
  }
}
