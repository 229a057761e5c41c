// The server that carries the mutants: takes exactly what the document shows, refuses all else with a fitting 4xx.
import { createHash, randomBytes } from "node:crypto"
import http from "node:http"
import type { Socket } from "node:net"

export const HOUR = 3_600_000
export const ID = "Vrf-7q2M9-Onboarding"
/** Longer than 72 bytes, with a colon, a plus, a slash and a per cent sign. */
export const KEY = "Kx9:pA7+wq/Zt%3Dm4:" + "hV2nRb8LsYc6TjGdQe0F".repeat(3) + "uW5:End"

export interface Rq {
  method: string
  path: string
  query: string
  head: http.IncomingHttpHeaders
  text: string
  socket: Socket & Record<string, any>
  at: number
  why?: string
}
export interface Session {
  token: string
  born: number
  uses: number
  [k: string]: any
}
export interface Person {
  entity_type: string
  name: string
  dob: string
}
export interface Answer {
  status: number
  body: string
  headers?: Record<string, string>
}
export const sleep = (ms: number) => new Promise<void>((f) => setTimeout(f, ms))

export class Strict {
  sessions = new Map<string, Session>()
  memo: any = {} // free for mutants
  now: () => number
  started: number
  constructor(now: () => number) {
    this.now = now
    this.started = now()
  }

  // -- routing
  async handle(q: Rq): Promise<Answer> {
    const token = q.path === "/oauth/service"
    if (!token && q.path !== "/api/aml") return this.refuse(404, "not_found", q)
    if (!this.methodOk(q)) return this.refuse(405, "method_not_allowed", q)
    if (!this.queryOk(q)) return this.refuse(400, "unexpected_query", q)
    return token ? this.token(q) : this.check(q)
  }
  methodOk(q: Rq) {
    return q.method === "POST"
  }
  queryOk(q: Rq) {
    return q.query === ""
  }
  refuse(status: number, error: string, _q: Rq): Answer {
    const headers: Record<string, string> = {}
    if (status === 401) headers["WWW-Authenticate"] = error === "invalid_client" ? "Basic realm=\"idv\"" : "Bearer"
    if (status === 405) headers["Allow"] = "POST"
    return { status, body: JSON.stringify({ error }), headers }
  }

  // -- POST /oauth/service
  async token(q: Rq): Promise<Answer> {
    if (!this.formOk(q)) return this.refuse(415, "unsupported_media_type", q)
    if (!(await this.clientOk(q))) return this.refuse(401, "invalid_client", q)
    if (!this.grantOk(q)) return this.refuse(400, "unsupported_grant_type", q)
    return { status: 200, body: JSON.stringify(this.tokenBody(await this.issue(q))), headers: { "Cache-Control": "no-store" } }
  }
  media(q: Rq) {
    return (q.head["content-type"] ?? "").split(";")[0]!.trim().toLowerCase()
  }
  formOk(q: Rq) {
    return this.media(q) === "application/x-www-form-urlencoded"
  }
  basic(q: Rq): [string, string] | undefined {
    const m = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(q.head.authorization ?? "")
    return m ? this.pair(Buffer.from(m[1]!, "base64").toString("utf8")) : undefined
  }
  pair(text: string): [string, string] | undefined {
    const i = text.indexOf(":")
    return i < 0 ? undefined : [text.slice(0, i), text.slice(i + 1)]
  }
  clientOk(q: Rq): boolean | Promise<boolean> {
    const c = this.basic(q)
    return c !== undefined && this.knows(c[0], c[1])
  }
  knows(id: string, key: string) {
    return this.idOk(id) && this.keyOk(key)
  }
  idOk(id: string) {
    return id === ID
  }
  keyOk(key: string) {
    return key === KEY
  }
  form(q: Rq): Array<[string, string]> {
    return [...new URLSearchParams(q.text)]
  }
  grantOk(q: Rq) {
    const f = this.form(q)
    return f.length === 1 && f[0]![0] === "grant_type" && this.grantIs(f[0]![1])
  }
  grantIs(v: string) {
    return v === "client_credentials"
  }
  mint() {
    return randomBytes(30).toString("base64url")
  }
  issue(q: Rq): Session | Promise<Session> {
    const s: Session = { token: this.mint(), born: q.at, uses: 0 }
    this.sessions.set(s.token, s)
    return s
  }
  tokenBody(s: Session): any {
    return { access_token: s.token, token_type: "Bearer", expires_in: 3600 }
  }

  // -- POST /api/aml
  async check(q: Rq): Promise<Answer> {
    const s = await this.session(q)
    if (!s) return this.refuse(401, "invalid_token", q)
    const p = this.read(q)
    if (!p) return this.refuse(400, "invalid_request", q)
    return this.screen(p, s, q)
  }
  bearer(q: Rq): string | undefined {
    return /^Bearer ([^\s,]+)$/.exec(q.head.authorization ?? "")?.[1]
  }
  find(token: string): Session | undefined {
    return this.sessions.get(token)
  }
  alive(s: Session, at: number) {
    return at - s.born < HOUR
  }
  session(q: Rq): Session | undefined | Promise<Session | undefined> {
    const t = this.bearer(q)
    const s = t === undefined ? undefined : this.find(t)
    if (!s || !this.alive(s, q.at)) return undefined
    s.uses++
    return s
  }
  jsonOk(q: Rq) {
    return this.media(q) === "application/json"
  }
  parse(q: Rq): any {
    try {
      return JSON.parse(q.text)
    } catch {
      return undefined
    }
  }
  read(q: Rq): Person | undefined {
    if (!this.jsonOk(q)) return undefined
    const o = this.parse(q)
    if (typeof o !== "object" || o === null || Array.isArray(o) || !this.keysOk(o)) return undefined
    return this.entityOk(o.entity_type) && this.nameOk(o.name) && this.dobOk(o.dob) ? o : undefined
  }
  keysOk(o: object) {
    return Object.keys(o).every((k) => k === "entity_type" || k === "name" || k === "dob")
  }
  entityOk(v: any) {
    return v === "person"
  }
  nameOk(v: any) {
    return typeof v === "string" && v.trim() !== ""
  }
  dobOk(v: any) {
    return typeof v === "string" && this.dateOk(/^(\d{2})-(\d{2})-(\d{4})$/.exec(v))
  }
  dateOk(m: RegExpExecArray | null) {
    if (!m || m[0].endsWith("\n")) return false
    const [d, mo, y] = [Number(m[1]), Number(m[2]), Number(m[3])]
    const t = new Date(Date.UTC(2000, 0, 1))
    t.setUTCFullYear(y, mo - 1, d)
    return mo >= 1 && mo <= 12 && d >= 1 && t.getUTCDate() === d && t.getUTCMonth() === mo - 1
  }
  async screen(p: Person, s: Session, q: Rq): Promise<Answer> {
    await this.lists(p)
    return { status: 200, body: this.text(this.credential(p, s, q)) }
  }
  lists(_p: Person): Promise<void> {
    return sleep(1)
  }
  /** About half of all names are on a list, whatever their letter case. */
  listed(name: string) {
    const n = name.toLowerCase()
    return /testpep|testsanction|testmatch/.test(n) || createHash("md5").update(n).digest()[0]! % 2 === 0
  }
  text(v: unknown) {
    return JSON.stringify(v)
  }
  credential(p: Person, s: Session, q: Rq): any {
    return {
      credential_type: "aml",
      credential_name: "AML",
      issued_by: "Identity Verification Service",
      issuer_id: "4b1e9c52-7f0d-4a3b-8c61-95d2e7a0f318",
      cred_version: "1.0",
      credentials: { attributes: this.attributes(p, s, q) }
    }
  }
  attributes(p: Person, s: Session, q: Rq): any {
    return {
      name: this.echo(p.name),
      birth_year: this.year(p.dob),
      searched_on: this.stamp(q.at, s),
      match_found: this.verdict(p),
      aml_profile: this.profile(p)
    }
  }
  echo(name: string): any {
    return name
  }
  year(dob: string): any {
    return dob.slice(6)
  }
  stamp(at: number, _s: Session): any {
    return new Date(at).toISOString().slice(0, 19).replace("T", " ")
  }
  verdict(p: Person): any {
    return this.listed(p.name) ? "Potential match" : "No"
  }
  profile(p: Person): any {
    return "https://aml.idv.example.test/profiles/" + createHash("sha1").update(p.name + p.dob).digest("hex")
  }

  // -- transport
  decode(chunks: Array<Buffer>) {
    return Buffer.concat(chunks).toString("utf8")
  }
  encode(a: Answer): [Buffer, number] {
    const b = Buffer.from(a.body, "utf8")
    return [b, b.length]
  }
  listen(): Promise<{ url: string; close: () => Promise<void> }> {
    const server = http.createServer((req, res) => {
      const chunks: Array<Buffer> = []
      req.on("error", () => undefined)
      req.on("data", (c) => chunks.push(c))
      req.on("end", async () => {
        const [path, ...query] = (req.url ?? "").split("?")
        const q: Rq = {
          method: req.method ?? "",
          path: path!,
          query: query.join("?"),
          head: req.headers,
          text: this.decode(chunks),
          socket: req.socket,
          at: this.now()
        }
        let a: Answer
        try {
          a = await this.handle(q)
        } catch (e) {
          a = { status: 500, body: "{\"error\":\"server_error\"}" }
        }
        const [body, length] = this.encode(a)
        res.writeHead(a.status, { "Content-Type": "application/json", "Content-Length": length, ...a.headers })
        res.end(length < body.length ? body.subarray(0, length) : body)
      })
    })
    return new Promise((done) =>
      server.listen(0, "127.0.0.1", () =>
        done({
          url: `http://127.0.0.1:${(server.address() as any).port}`,
          close: () =>
            new Promise((f) => {
              server.close(() => f())
              server.closeAllConnections()
            })
        }))
    )
  }
}
