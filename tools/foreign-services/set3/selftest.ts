// Shows that this set is what it says: each sentence is in the document, every correct server passes every probe, and
// every mutant fails one. Usage: node --import tsx/esm selftest.ts [mutant ids]; the document is DOC or the default.
import { readFileSync } from "node:fs"
import http from "node:http"
import net from "node:net"
import { mutants } from "./mutants.ts"
import { serve, styles } from "./service.ts"

type Sent = { method?: string; path?: string; head?: Record<string, string | undefined>; body?: string | Array<Buffer>; agent?: http.Agent | false }
type Got = { status: number; head: http.IncomingHttpHeaders; text: string }
const HOUR = 3_600_000
const MIN = 60_000
const FORM = "application/x-www-form-urlencoded"
const GRANT = "grant_type=client_credentials"
const names = ["Maria Elena Fernandez", "Jane Q. Public", "John Testpep", "Ann Lee", "Peter Paul van Dyke"]

class Client {
  moved = 0
  agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
  url = ""
  id = ""
  key = ""
  send(o: Sent): Promise<Got> {
    return new Promise((done) => {
      const u = new URL(this.url + o.path)
      const head: Record<string, string> = {}
      for (const [k, v] of Object.entries(o.head ?? {})) if (v !== undefined) head[k] = v
      const chunks = Array.isArray(o.body) ? o.body : undefined
      const length = chunks ? chunks.reduce((n, c) => n + c.length, 0) : Buffer.byteLength(o.body ?? "" as any)
      const req = http.request({ host: u.hostname, port: u.port, path: o.path, method: o.method ?? "POST", agent: o.agent ?? this.agent, headers: { "User-Agent": "selftest/1", "Content-Length": length, ...head } }, (res) => {
        const parts: Array<Buffer> = []
        res.on("data", (c) => parts.push(c))
        res.on("error", () => done({ status: 0, head: {}, text: "" }))
        res.on("end", () => done({ status: res.statusCode!, head: res.headers, text: Buffer.concat(parts).toString() }))
      })
      req.on("error", () => done({ status: 0, head: {}, text: "" }))
      if (chunks) {
        void (async () => {
          req.setNoDelay(true)
          for (const c of chunks) {
            req.write(c)
            await new Promise((f) => setTimeout(f, 15))
          }
          req.end()
        })()
      } else req.end(o.body)
    })
  }
  basic(id = this.id, key = this.key) {
    return "Basic " + Buffer.from(`${id}:${key}`).toString("base64")
  }
  auth(o: { basic?: string | undefined; type?: string | undefined; body?: string; method?: string; query?: string; head?: Record<string, string>; agent?: http.Agent | false } = {}) {
    return this.send({
      ...(o.method ? { method: o.method } : {}),
      ...(o.agent === undefined ? {} : { agent: o.agent }),
      path: "/oauth/service" + (o.query ?? ""),
      head: { Authorization: "basic" in o ? o.basic : this.basic(), "Content-Type": "type" in o ? o.type : FORM, ...o.head },
      body: o.body ?? GRANT
    })
  }
  async token(agent?: http.Agent): Promise<string> {
    const r = await this.auth(agent ? { agent } : {})
    const t = read(r)?.access_token
    if (typeof t !== "string") throw `no token: ${r.status} ${r.text.slice(0, 80)}`
    return t
  }
  raw(bearer: string | undefined, body: string | Array<Buffer>, o: Sent = {}) {
    return this.send({ path: "/api/aml", body, ...o, head: { Authorization: bearer, "Content-Type": "application/json", ...o.head } })
  }
  check(token: string | undefined, name: any = names[0], dob: any = "15-06-1985", o: Sent = {}) {
    return this.raw(token === undefined ? undefined : `Bearer ${token}`, JSON.stringify({ entity_type: "person", name, dob }), o)
  }
}
const read = (r: Got): any => {
  try {
    return JSON.parse(r.text)
  } catch {
    return undefined
  }
}
const credential = (r: Got) => /match_found|matchFound|credential_type/.test(r.text)
const refused = (r: Got, what: string) => {
  if (credential(r)) throw `${what}: a credential`
}
let issuer: string | undefined
let zones: Array<number> = []
const faithful = (c: Client, r: Got, name: string, dob: string) => {
  const o = read(r)
  const a = o?.credentials?.attributes
  const fail = (what: string) => {
    throw `${name} ${dob}: ${what} in ${r.status} ${r.text.slice(0, 600)}`
  }
  if (typeof a !== "object" || Array.isArray(a)) fail("no attributes")
  if (o.credential_type !== "aml") fail("credential_type")
  if (o.credential_name !== "AML") fail("credential_name")
  if (typeof o.issued_by !== "string" || o.issued_by === "") fail("issued_by")
  if (typeof o.issuer_id !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(o.issuer_id)) fail("issuer_id")
  if ((issuer ??= o.issuer_id) !== o.issuer_id) fail("another issuer_id")
  if (typeof o.cred_version !== "string" || !/^\d+\.\d+$/.test(o.cred_version)) fail("cred_version")
  if (a.name !== name) fail("name")
  if (a.birth_year !== dob.slice(6)) fail("birth_year")
  if (a.match_found !== "No" && a.match_found !== "Potential match") fail("match_found")
  if (typeof a.aml_profile !== "string" || !/^https?:\/\/[\x21-\x7e]+$/i.test(a.aml_profile)) fail("aml_profile")
  if (typeof a.searched_on !== "string" || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(a.searched_on)) fail("searched_on")
  const off = Date.parse(a.searched_on.replace(" ", "T") + "Z") - (Date.now() + c.moved)
  const zone = Math.round(off / (15 * MIN))
  if (!(Math.abs(zone) <= 56 && Math.abs(off - zone * 15 * MIN) < 4000) || / 24/.test(a.searched_on)) fail("searched_on's time")
  zones.push(zone)
  if (Math.max(...zones) - Math.min(...zones) > 4) fail("searched_on's zone")
  return a
}
/** No token request's refusal may hold anything that works as a token. */
const nothing = async (c: Client, r: Got, what: string) => {
  const words = new Set((r.text + " " + Object.values(r.head).join(" ")).match(/[\w.+/=~-]{10,}/g) ?? [])
  for (const w of [...words].slice(0, 40)) refused(await c.check(w), `${what}: token ${w.slice(0, 12)}`)
}
const good = async (c: Client, t: string, name = names[0]!, dob = "15-06-1985", o: Sent = {}) => faithful(c, await c.check(t, name, dob, o), name, dob)
const flip = (s: string) => s.replace(/[a-z]/gi, (x) => x === x.toLowerCase() ? x.toUpperCase() : x.toLowerCase())
const other = (s: string, i: number) => s.slice(0, i) + (s[i] === "7" ? "8" : "7") + s.slice(i + 1)
const multipart = "--b\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials\r\n--b--\r\n"

const grants: Array<[string, (c: Client) => Promise<unknown>]> = [
  ...["", "a=b", "grant_type=", "grant_type", "grant_type=password", "grant_type=refresh_token", "grant_type=authorization_code", "grant_type=none", "grant_type=client_credentials_v2", "grant_type=CLIENT_CREDENTIALS", "grant_type=client-credentials", "grant_type=+client_credentials+", "old_grant_type=client_credentials", "grant_type=password&grant_type=client_credentials", "GRANT_TYPE=client_credentials"]
    .map((body): [string, any] => [`grant ${body}`, async (c: Client) => nothing(c, await c.auth({ body }), body)]),
  ["grant in the address", async (c) => nothing(c, await c.auth({ body: "", query: "?" + GRANT }), "query")],
  ["token by GET", async (c) => nothing(c, await c.auth({ method: "GET", body: "", query: "?" + GRANT }), "GET")],
  ["token by PUT", async (c) => nothing(c, await c.auth({ method: "PUT" }), "PUT")],
  ["token by PUT without credentials", async (c) => nothing(c, await c.auth({ method: "PUT", basic: undefined }), "PUT")],
  ["json", async (c) => nothing(c, await c.auth({ type: "application/json", body: "{\"grant_type\":\"client_credentials\"}" }), "json")],
  ...["text/plain", "application/json", "multipart/form-data", undefined].map((type): [string, any] => [`type ${type}`, async (c: Client) => nothing(c, await c.auth({ type }), `${type}`)]),
  ["multipart", async (c) => nothing(c, await c.auth({ type: "multipart/form-data; boundary=b", body: multipart }), "multipart")],
  ["percent-encoded", async (c) => good(c, read(await c.auth({ body: "grant_type=client%5Fcredentials" }))?.access_token ?? "")],
  ["password grant in the body", async (c) => nothing(c, await c.auth({ basic: undefined, body: new URLSearchParams({ grant_type: "password", username: c.id, password: c.key }).toString() }), "password")]
]
const wrong: Array<[string, (c: Client) => string | undefined]> = [
  ["none", () => undefined],
  ["wrong", (c) => c.basic(c.id, "wrong-key")],
  ["wrong id", (c) => c.basic("nobody", c.key)],
  ["empty id", (c) => c.basic("", c.key)],
  ["key case", (c) => c.basic(c.id, /[a-z]/i.test(c.key) ? flip(c.key) : c.key + "x")],
  ["id case", (c) => c.basic(/[a-z]/i.test(c.id) ? flip(c.id) : c.id + "x", c.key)],
  ["last of key", (c) => c.basic(c.id, other(c.key, c.key.length - 1))],
  ["first of key", (c) => c.basic(c.id, other(c.key, 0))],
  ["half of key", (c) => c.basic(c.id, c.key.slice(0, c.key.length >> 1))],
  ["empty key", (c) => c.basic(c.id, "")],
  ["more key", (c) => c.basic(c.id, c.key + "x")],
  ["space after key", (c) => c.basic(c.id, c.key + " ")],
  ["space after id", (c) => c.basic(c.id + " ", c.key)],
  ["first colon part", (c) => c.basic(c.id, c.key.includes(":") ? c.key.split(":")[0] + ":zz" : "zz")],
  ["swapped", (c) => c.basic(c.key, c.id)],
  ["moved colon", (c) => "Basic " + Buffer.from(c.id.slice(0, -1) + ":" + c.id.slice(-1) + c.key).toString("base64")],
  ["raw", (c) => `Basic ${c.id}:${c.key}`],
  ["other scheme", (c) => c.basic().replace("Basic", "Bearer")],
  ["no scheme", (c) => c.basic().slice(6)],
  ["twice", (c) => "Basic " + Buffer.from(c.basic().slice(6)).toString("base64")],
  ["unknown and empty", (c) => c.basic("nobody", "")],
  ["no colon", (c) => "Basic " + Buffer.from(c.id).toString("base64")],
  ["per cent", (c) => c.basic(c.id, "%")],
  ["injection", (c) => c.basic(c.id, "' OR '1'='1")],
  ["admin", (c) => c.basic("admin", "admin")],
  ["id as key", (c) => c.basic(c.id, c.id)]
]
const keys: Array<[string, (c: Client) => Promise<unknown>]> = [
  ...wrong.map(([what, f]): [string, any] => [`credentials: ${what}`, async (c: Client) => nothing(c, await c.auth({ basic: f(c) }), what)]),
  ["wrong after a good login", async (c) => {
    await c.token()
    for (let i = 0; i < 4; i++) await nothing(c, await c.auth({ basic: c.basic(c.id, "wrong-key") }), "wrong")
  }],
  ["wrong on the connection of a good login", async (c) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    await c.token(agent)
    await nothing(c, await c.auth({ basic: c.basic(c.id, "wrong-key"), agent }), "wrong")
    agent.destroy()
  }],
  ["good and wrong at the same time", async (c) => {
    const all = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => c.auth({ basic: i % 2 ? c.basic() : c.basic(c.id, "wrong" + i) })))
    for (const [i, r] of all.entries()) i % 2 ? await good(c, read(r)?.access_token ?? "") : await nothing(c, r, "wrong")
  }],
  ["secret in the body", async (c) => {
    for (const [a, b] of [["client_id", "client_secret"], ["customer_id", "customer_key"]] as const) {
      await nothing(c, await c.auth({ basic: undefined, body: new URLSearchParams({ grant_type: "client_credentials", [a]: c.id, [b]: c.key }).toString() }), a)
    }
  }],
  ["Proxy-Authorization", async (c) => nothing(c, await c.auth({ basic: undefined, head: { "Proxy-Authorization": c.basic() } }), "proxy")],
  ["eight tokens", async (c) => {
    const t: Array<string> = []
    for (let i = 0; i < 8; i++) t.push(await c.token())
    for (const x of t) await good(c, x)
  }]
]
const uses: Array<[string, (c: Client) => Promise<unknown>]> = [
  ...([
    ["no header", () => undefined],
    ["basic", (c) => c.basic()],
    ["key", (c) => `Bearer ${c.key}`],
    ["id", (c) => `Bearer ${c.id}`],
    ["Token", (_, t) => `Token ${t}`],
    ["Basic token", (_, t) => `Basic ${t}`],
    ["bare", (_, t) => t],
    ["no space", (_, t) => `Bearer:${t}`],
    ["flipped", (_, t) => `Bearer ${/[a-z]/i.test(t) ? flip(t) : t + "1"}`],
    ["first char", (_, t) => `Bearer ${other(t, 0)}`],
    ["last char", (_, t) => `Bearer ${other(t, t.length - 1)}`],
    ["longer", (_, t) => `Bearer ${t}abc`],
    ["shorter", (_, t) => `Bearer ${t.slice(0, -3)}`],
    ["half", (_, t) => `Bearer ${t.slice(0, t.length >> 1)}`],
    ["undefined", () => "Bearer undefined"],
    ["null", () => "Bearer null"],
    ["empty", () => "Bearer "],
    ["junk", () => "Bearer " + "A".repeat(40)],
    ["any", () => "anything"]
  ] as Array<[string, (c: Client, t: string) => string | undefined]>).map(([what, f]): [string, any] => [`bearer: ${what}`, async (c: Client) => {
    const t = await c.token()
    await good(c, t)
    const [h, fresh] = [f(c, t), { agent: false as const }]
    const body = JSON.stringify({ entity_type: "person", name: "Somebody Else", dob: "01-01-1980" })
    refused(await c.raw(h, body, fresh), what)
    refused(await c.raw(h, body, fresh), what + " again")
    await good(c, t)
  }]),
  ["token elsewhere", async (c) => {
    const t = await c.token()
    const o = { entity_type: "person", name: "A B", dob: "01-01-1980" }
    refused(await c.raw(undefined, JSON.stringify(o), { path: "/api/aml?access_token=" + encodeURIComponent(t) }), "query")
    refused(await c.raw(undefined, JSON.stringify({ ...o, access_token: t })), "body")
    refused(await c.raw(undefined, JSON.stringify(o), { head: { Cookie: `access_token=${t}; token=${t}` } }), "cookie")
    refused(await c.raw(undefined, JSON.stringify(o), { head: { "X-Access-Token": t } }), "header")
  }],
  ["no token on the connection of another request", async (c) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const t = await c.token(agent)
    refused(await c.check(undefined, "A B", "01-01-1980", { agent }), "after login")
    await good(c, t, names[0], "15-06-1985", { agent })
    refused(await c.check(undefined, "A B", "01-01-1980", { agent }), "after check")
    agent.destroy()
  }],
  ["ten checks, other connections, another agent, half an hour apart", async (c) => {
    const t = await c.token()
    for (let i = 0; i < 10; i++) await good(c, t, names[i % 5], "15-06-1985", { agent: false, head: { "User-Agent": `a/${i}` } })
    c.moved += 29 * MIN
    await good(c, t)
    refused(await c.raw(`Bearer ${t}`, "{}"), "{}")
    await good(c, t)
  }],
  ["unauthorised beside authorised, and after it", async (c) => {
    const t = await c.token()
    const all = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => c.check(i % 2 ? t : undefined, names[0])))
    for (const [i, r] of all.entries()) i % 2 ? faithful(c, r, names[0]!, "15-06-1985") : refused(r, "beside")
    refused(await c.check(undefined, names[0]), "after")
  }],
  ["tokens at the same time", async (c) => {
    for (const t of await Promise.all([1, 2, 3, 4].map(() => c.token()))) await good(c, t)
  }]
]
const S = 1000
const ends = (what: string, steps: (c: Client) => Promise<unknown>): [string, any] => [what, steps]
const hours: Array<[string, (c: Client) => Promise<unknown>]> = [
  ends("hour of an unused token", async (c) => {
    const t = await c.token()
    c.moved += HOUR - 5 * S
    await good(c, t)
    c.moved += 6 * S
    refused(await c.check(t), "after the hour")
    refused(await c.check(t), "and again")
    c.moved += 40 * MIN
    refused(await c.check(t), "two hours")
    c.moved += 22.5 * HOUR
    refused(await c.check(t), "a day")
    c.moved += 25 * 24 * HOUR
    refused(await c.check(t), "25 days")
    await c.token()
    refused(await c.check(t), "after another token")
    const fresh = await c.token()
    await good(c, fresh)
    refused(await c.check(t), "expired again")
    await good(c, fresh)
  }),
  ends("refused at 60:03 though used and tried before", async (c) => {
    const t = await c.token()
    await good(c, t)
    c.moved += 30 * MIN
    await good(c, t)
    refused(await c.raw(`Bearer ${t}`, "{}"), "{}")
    c.moved += 29 * MIN + 57 * S
    await good(c, t)
    c.moved += 6 * S
    refused(await c.check(t), "60:03")
    c.moved += MIN
    refused(await c.check(t), "61:03")
  }),
  ...[0, 20, 50].map((m) => ends(`hour of a token ${m} minutes later`, async (c) => {
    c.moved += m * MIN
    const t = await c.token()
    c.moved += 59 * MIN + 55 * S
    await good(c, t)
    c.moved += 6 * S
    refused(await c.check(t), "60:01")
  })),
  ends("two tokens", async (c) => {
    const a = await c.token()
    c.moved += 40 * MIN
    await good(c, a)
    const b = await c.token()
    await good(c, a)
    c.moved += 25 * MIN
    refused(await c.check(a), "first")
    await good(c, b)
    c.moved += 34 * MIN
    await good(c, b)
    c.moved += 2 * MIN
    refused(await c.check(b), "second")
  }),
  ends("refused token requests leave tokens alone", async (c) => {
    const a = await c.token()
    await c.auth({ basic: c.basic(c.id, "wrong-key") })
    await good(c, a)
    await c.auth({ body: "grant_type=password" })
    await good(c, a)
    refused(await c.check("unknown-token-unknown-token"), "unknown")
    await good(c, a)
  })
]
const base = { entity_type: "person", name: "Maria Elena Fernandez", dob: "15-06-1985" }
const without = (k: string) => Object.fromEntries(Object.entries(base).filter(([x]) => x !== k))
const bad: Array<[string, string]> = [
  ...[undefined, null, "", "company", "organisation", "individual", "natural_person", "Person", "PERSON", "personal", " person ", ["person"], true, 0, 1, {}].map((v) => ({ ...base, entity_type: v })),
  ...[undefined, null, "", "  ", 42, true, ["Maria", "Fernandez"], { first: "Maria", last: "F" }].map((v) => ({ ...base, name: v })),
  ...[undefined, null, "", 1985, 19850615, "1985", "1985-06-15", "15/06/1985", "15.06.1985", "15 06 1985", "15061985", "15-Jun-1985", "15,06,1985", "15+06+1985", "12-31-1985", "5-6-1985", "15-06-85", "15-06-1985T00:00:00", "15-06-19851", "x15-06-1985", "15-06-1985\n", "١٥-٠٦-١٩٨٥", " 15-06-1985 ", "15-13-1985", "32-06-1985", "00-00-1985", "00-06-1985", "1x-06-1985", ["15-06-1985"]].map((v) => ({ ...base, dob: v })),
  {},
  [base],
  JSON.stringify(base),
  { data: base },
  { person: base },
  { ENTITY_TYPE: "person", NAME: base.name, DOB: base.dob },
  { Entity_Type: "person", Name: base.name, Dob: base.dob },
  { entityType: "person", name: base.name, dob: base.dob },
  null
].map((v): [string, string] => [JSON.stringify(v), JSON.stringify(v)])
bad.push(["trailing", JSON.stringify(base) + "xyz"], ["single quotes", JSON.stringify(base).replace(/"/g, "'")], ["comma", JSON.stringify(base).replace("}", ",}")], ["empty", ""])
const people: Array<[string, string]> = [
  ["Sukarno", "15-06-1985"], ["Maria Elena Fernandez", "31-12-1990"], ["Ana Maria de la Cruz y Santos", "01-01-1990"], ["José Ñuñez Çelik", "08-09-1960"], ["李小龍", "29-02-2000"], ["Олена Мороз", "29-02-1996"],
  ["Sean O'Brien", "31-01-2001"], ["Anne-Marie Smith-Jones", "09-08-1929"], ["Dr Martin King Jr.", "30-12-1991"], ["Kim Union Null", "31-12-2003"], ["O Li", "12-12-1912"], ["x Æ \u{20000} Musk", "11-11-1999"],
  ["Bob \"the Rock\" McDonald", "01-02-1943"], ["A+B %41 & <Co>", "07-07-1977"], ["Back\\slash O'Neil", "02-01-2021"], ["Wolfeschlegelsteinhausenbergerdorff Adolph Blaine Charles", "03-03-1983"], ["John Testpep", "04-04-1984"], ["von der Leyen Ursula", "05-05-1955"]
]
const checks: Array<[string, (c: Client) => Promise<unknown>]> = [
  ["people", async (c) => {
    const t = await c.token()
    for (const [n, d] of people) await good(c, t, n, d)
    for (const [n, d] of people) await good(c, t, n, d)
  }],
  ["bad bodies", async (c) => {
    const t = await c.token()
    for (const [what, body] of bad) refused(await c.raw(`Bearer ${t}`, body), what)
    await good(c, t)
    for (const k of Object.keys(base)) refused(await c.raw(`Bearer ${t}`, JSON.stringify(without(k))), `without ${k}`)
    await good(c, t)
  }],
  ["order, spaces and escapes", async (c) => {
    const t = await c.token()
    const say = async (body: string, name = base.name) => faithful(c, await c.raw(`Bearer ${t}`, body), name, base.dob)
    await say(JSON.stringify(Object.fromEntries(Object.entries(base).reverse())))
    await say(JSON.stringify(base, null, 2))
    await say(JSON.stringify({ ...base, name: "Zoé" }).replace("é", "\\u00e9"), "Zoé")
  }],
  ["a letter in two packets", async (c) => {
    const t = await c.token()
    const b = Buffer.from(JSON.stringify({ ...base, name: "Zoé Q" }))
    const i = b.indexOf(0xc3) + 1
    faithful(c, await c.raw(`Bearer ${t}`, [b.subarray(0, i), b.subarray(i)]), "Zoé Q", base.dob)
  }],
  ["methods of the check", async (c) => {
    const t = await c.token()
    const q = new URLSearchParams(base).toString()
    for (const method of ["PUT", "PATCH", "DELETE", "GET"]) {
      refused(await c.check(t, names[0], base.dob, { method }), method)
      refused(await c.check(undefined, names[0], base.dob, { method }), method + " without token")
      refused(await c.check(t, names[0], base.dob, { method, head: { "X-HTTP-Method-Override": "POST" } }), method + " override")
    }
    refused(await c.send({ method: "GET", path: "/api/aml?" + q, head: { Authorization: `Bearer ${t}` } }), "GET query")
    refused(await c.raw(`Bearer ${t}`, "", { path: "/api/aml?" + q }), "POST query")
    refused(await c.raw(`Bearer ${t}`, q, { head: { "Content-Type": FORM } }), "form")
  }],
  ["at the same time", async (c) => {
    const t = await c.token()
    const all = names.map((n, i): [string, string] => [n, i < 3 ? "15-06-1985" : `1${i}-06-199${i}`])
    for (const [i, r] of (await Promise.all(all.map(([n, d]) => c.check(t, n, d)))).entries()) faithful(c, r, ...all[i]!)
  }],
  ["namesakes and spellings", async (c) => {
    const t = await c.token()
    await good(c, t, "José Lima", "01-03-1971")
    await good(c, t, "José Lima", "01-03-1972")
    await good(c, t, "JOSE LIMA", "01-03-1971")
    await good(c, t, "Pepe Loma", "01-03-1971")
    c.moved += 7 * MIN
    await good(c, t, "José Lima", "01-03-1971")
  }],
  ["clock", async (c) => {
    const start = c.moved
    for (const at of ["2031-01-05T00:00:00.300Z", "2031-03-04T13:05:06.700Z", "2031-12-31T12:34:56.123Z", "2032-01-01T00:00:59.999Z", "2032-02-29T09:07:08.000Z", "2033-01-01T03:02:01.009Z", "2033-07-09T23:59:59.100Z"]) {
      c.moved = Date.parse(at) - Date.now()
      const t = await c.token()
      await good(c, t)
      c.moved += 11 * MIN
      await good(c, t)
    }
    c.moved = start
  }]
]
// A request of tiny packets, as a slow client sends it; only shows that the server reads it.
const slow: [string, (c: Client) => Promise<unknown>] = ["slow client", (c) =>
  new Promise((done, fail) => {
    const text = `POST /oauth/service HTTP/1.1\r\nHost: x\r\nAuthorization: ${c.basic()}\r\nContent-Type: ${FORM}\r\nContent-Length: ${GRANT.length}\r\nConnection: close\r\n\r\n${GRANT}`
    const socket = net.connect(Number(new URL(c.url).port), "127.0.0.1", async () => {
      for (let i = 0; i < text.length; i += 40) {
        socket.write(text.slice(i, i + 40))
        await new Promise((f) => setTimeout(f, 2))
      }
    })
    let got = ""
    socket.on("data", (d) => (got += d)).on("error", () => fail("slow"))
    socket.on("close", () => /access_token/.test(got) ? done(0) : fail("slow client: " + got.slice(0, 100)))
  })]
const probes = [...checks, ...hours, ...grants, ...keys, ...uses, slow]

const first = async (style: string, fault?: string): Promise<string | undefined> => {
  issuer = undefined
  zones = []
  for (const [what, probe] of probes) {
    const c = new Client()
    const server = await serve({ style, now: () => Date.now() + c.moved, ...(fault === undefined ? {} : { fault }) })
    Object.assign(c, { url: server.url, id: server.customerId, key: server.customerKey })
    try {
      await probe(c)
    } catch (e) {
      return `${what}: ${typeof e === "string" ? e : (e as Error).stack}`
    } finally {
      c.agent.destroy()
      await server.close()
    }
  }
}

const document = readFileSync(process.env["DOC"] ?? new URL("./api-document.md", import.meta.url), "utf8")
const only = process.argv.slice(2)
let wrongs = 0
for (const m of mutants) {
  if (!document.includes(m.sentence)) wrongs++, console.log("not in the document:", m.id, m.sentence)
}
if (only.length === 0) {
  for (const style of styles) {
    const failed = await first(style)
    console.log(failed === undefined ? "correct" : "WRONG", style, failed ?? "")
    if (failed !== undefined) wrongs++
  }
}
for (const m of mutants) {
  if (only.length > 0 && !only.includes(m.id)) continue
  const failed = await first("strict", m.id)
  if (failed === undefined) wrongs++, console.log("ALIVE", m.id, m.what)
  else if (only.length > 0) console.log(m.id, "->", failed.slice(0, 300))
}
console.log(`${mutants.length} mutants, ${styles.length} styles, ${probes.length} probes; ${wrongs} problems`)
process.exitCode = wrongs > 0 ? 1 : 0
