// Four more correct servers. They share no code with strict.ts or one another except what starts a listener, and
// agree only on what the document states.
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from "node:crypto"
import http from "node:http"
import { gzipSync } from "node:zlib"

type Clock = () => number
type Req = http.IncomingMessage
type Res = http.ServerResponse
export interface Served {
  url: string
  customerId: string
  customerKey: string
  close: () => Promise<void>
}
const HOUR = 3_600_000

const start = (id: string, key: string, on: (req: Req, res: Res, body: string) => Promise<void> | void): Promise<Served> => {
  const server = http.createServer((req, res) => {
    const parts: Array<Buffer> = []
    req.on("error", () => undefined)
    res.on("error", () => undefined)
    req.on("data", (c) => parts.push(c))
    req.on("end", () => void on(req, res, Buffer.concat(parts).toString("utf8")))
  })
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () =>
      done({
        url: `http://127.0.0.1:${(server.address() as any).port}`,
        customerId: id,
        customerKey: key,
        close: () =>
          new Promise((f) => {
            server.close(() => f())
            server.closeAllConnections()
          })
      }))
  )
}

/**
 * "envelope": an API gateway that answers everything with 200 and an application code. JWTs without a server-side
 * session, extra fields everywhere, unknown input ignored, header words in any case, times ahead of UTC by an hour.
 */
export const envelope = (now: Clock): Promise<Served> => {
  const id = "onboarding+prod@client.example"
  const key = "s p a c e s & =signs; 'quotes' \"too\""
  const secret = randomBytes(32)
  const part = (v: unknown) => Buffer.from(JSON.stringify(v)).toString("base64url")
  const sign = (s: string) => createHmac("sha256", secret).update(s).digest("base64url")
  let served = 0
  const send = (res: Res, status: number, v: object) => {
    const body = JSON.stringify({ traceId: randomUUID(), serverTime: now(), ...v }, null, 2) + "\r\n"
    res.writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
      "x-powered-by": "Express",
      "x-served": String(++served),
      "access-control-allow-origin": "*",
      etag: `W/"${served}"`
    })
    res.end(body)
  }
  const no = (res: Res, code: number, message: string) =>
    send(res, 200, { success: false, code, message, data: null, errors: [{ field: null, message }] })
  return start(id, key, (req, res, body) => {
    const path = (req.url ?? "").split("?")[0]!.toLowerCase().replace(/\/+$/, "")
    const auth = (req.headers.authorization ?? "").trim()
    const [word = "", ...rest] = auth.split(/\s+/)
    const type = (req.headers["content-type"] ?? "").toLowerCase()
    if (req.method !== "POST") return no(res, 40500, "Only POST is supported")
    if (path === "/oauth/service") {
      if (!type.startsWith("application/x-www-form-urlencoded")) return no(res, 41500, "Form expected")
      if (word.toLowerCase() !== "basic" || rest.length !== 1) return no(res, 40100, "Credentials missing")
      if (Buffer.from(rest[0]!, "base64").toString() !== `${id}:${key}`) return no(res, 40101, "Credentials wrong")
      const grants = new URLSearchParams(body).getAll("grant_type")
      if (grants.length !== 1 || grants[0] !== "client_credentials") return no(res, 40001, "Grant not supported")
      const head = part({ alg: "HS256", typ: "JWT", kid: "2024-11" }) + "." +
        part({ iss: "idv", sub: "onboarding", at: now(), jti: randomUUID() })
      return send(res, 201, {
        success: true,
        scope: "aml identity",
        token_type: "bearer",
        expires_in: "3600",
        refresh_token: null,
        access_token: `${head}.${sign(head)}`
      })
    }
    if (path !== "/api/aml") return no(res, 40400, "No such route")
    const [h = "", p = "", s = "", ...more] = word.toLowerCase() === "bearer" && rest.length === 1 ? rest[0]!.split(".") : []
    if (s === "" || more.length > 0 || sign(`${h}.${p}`) !== s) return no(res, 40110, "Token invalid")
    if (now() - JSON.parse(Buffer.from(p, "base64url").toString()).at > HOUR) return no(res, 40111, "Token expired")
    let o: any
    try {
      o = JSON.parse(body)
    } catch {
      return no(res, 42200, "Not JSON")
    }
    if (o === null || typeof o !== "object" || Array.isArray(o)) return no(res, 42201, "Not an object")
    if (o.entity_type !== "person") return no(res, 42202, "entity_type")
    if (typeof o.name !== "string" || !/[^\s]/.test(o.name)) return no(res, 42203, "name")
    const d = typeof o.dob === "string" && o.dob.length === 10 ? /^([0-3][0-9])-([01][0-9])-([0-9]{4})$/.exec(o.dob) : null
    if (!d || d[1] === "00" || d[1]! > "31" || d[2] === "00" || d[2]! > "12") return no(res, 42204, "dob") // 31-02 passes
    const hit = /pep|sanction|match|putin|kim|laden|escobar|mugabe/i.test(o.name)
    send(res, 200, {
      success: true,
      code: 20000,
      credential_id: randomUUID(),
      credential_type: "aml",
      credential_name: "AML",
      issued_by: "IDV – Überprüfungs-GmbH & Co. „KG“",
      issuer_id: "9F2C7A10-5B3E-4D68-A1F4-0C8E6B2D7913",
      cred_version: "2.11",
      issued_at: new Date(now()).toISOString(),
      credentials: {
        schema: "https://idv.example.test/schemas/aml",
        attributes: {
          entity_type: "person",
          name: o.name,
          dob: o.dob,
          birth_year: d[3],
          searched_on: new Date(now() + HOUR).toISOString().slice(0, 19).replace("T", " "),
          timezone: "CET",
          match_found: hit ? "Potential match" : "No",
          matches: hit ? [{ score: 0.93, list: "PEP", name: "SOMEBODY ELSE" }] : [],
          aml_profile: `https://portal.idv.example.test:8443/aml?name=${encodeURIComponent(o.name)}&dob=${o.dob}#result`
        }
      },
      proof: null
    })
  })
}

/**
 * "portal": a web application in front of the service. A refused request is redirected to a login page that answers
 * 200 with HTML, answers are slow and come out of order, every answer sets a cookie, fields come in another order,
 * the media type is text/json, tokens are UUIDs and times behind UTC by five hours.
 */
export const portal = (now: Clock): Promise<Served> => {
  const id = "10042"
  const key = "0000-1111"
  const born = new Map<string, number>()
  const html = "<!doctype html><html><body><form method=\"post\" action=\"/login\"><input name=\"user\"></form></body></html>"
  const login = (res: Res) => {
    res.writeHead(302, { Location: "/login?next=%2F", "Content-Type": "text/html", "Content-Length": Buffer.byteLength(html) })
    res.end(html)
  }
  const send = (res: Res, v: object) => {
    res.writeHead(200, { "Content-Type": "text/json", Date: new Date(0).toUTCString(), Vary: "*" }) // chunked
    res.end(JSON.stringify(v))
  }
  return start(id, key, async (req, res, body) => {
    res.setHeader("Set-Cookie", [`JSESSIONID=${randomBytes(8).toString("hex")}; HttpOnly`, "lang=en"])
    const at = now()
    await new Promise((f) => setTimeout(f, randomInt(1, 25)))
    const url = new URL(req.url ?? "/", "http://portal")
    const auth = req.headers.authorization ?? ""
    if (url.pathname === "/login") {
      res.writeHead(200, { "Content-Type": "text/html" })
      return void res.end(html)
    }
    if (req.method !== "POST") return login(res)
    if (url.pathname === "/oauth/service") {
      const form = new URLSearchParams(body)
      const ok = /^application\/x-www-form-urlencoded *(;.*)?$/i.test(req.headers["content-type"] ?? "") &&
        auth === "Basic " + Buffer.from(`${id}:${key}`).toString("base64") &&
        form.getAll("grant_type").join("\n") === "client_credentials"
      if (!ok) return login(res)
      const token = randomUUID()
      born.set(token, at)
      return send(res, { issued: at, access_token: token, token: { kind: "uuid" } })
    }
    const t = auth.startsWith("Bearer ") ? born.get(auth.slice(7)) : undefined
    if (url.pathname !== "/api/aml" || t === undefined || at >= t + HOUR) return login(res)
    const fields = (() => {
      try {
        return new Map<string, unknown>(Object.entries(JSON.parse(body)))
      } catch {
        return new Map<string, unknown>()
      }
    })()
    const [name, dob] = [fields.get("name"), fields.get("dob")]
    if (fields.get("entity_type") !== "person" || body.trimStart()[0] !== "{") return login(res)
    if (typeof name !== "string" || name.trim() === "") return login(res)
    if (typeof dob !== "string" || !/^(0[1-9]|[12]\d|3[01])-(0[1-9]|1[0-2])-\d{4}$/.test(dob) || dob.length > 10) return login(res)
    send(res, {
      credentials: {
        attributes: {
          aml_profile: "http://10.0.0.7/p/" + Buffer.from(name + dob).toString("base64url"),
          match_found: [...name].length % 2 ? "No" : "Potential match",
          searched_on: new Date(at - 5 * HOUR).toJSON().replace("T", " ").replace(/\..*/, ""),
          birth_year: dob.split("-")[2],
          name
        }
      },
      cred_version: "0.9",
      issuer_id: "00000000-0000-0000-0000-00000000000a",
      issued_by: "発行者",
      credential_name: "AML",
      credential_type: "aml"
    })
  })
}

/**
 * "hangup": refuses by cutting the connection (the check) or by 503 with a broken body (the token), closes each
 * connection after its answer, compresses if the client allows it, sends the body piece by piece, and its tokens are
 * two thousand characters long. Nothing but the three fields and the one parameter is taken. +05:30.
 */
export const hangup = (now: Clock): Promise<Served> => {
  const id = "urn-client-AB"
  const key = ":" + randomBytes(24).toString("base64") + ":" // begins and ends with a colon
  const live: Array<{ token: string; until: number }> = []
  const send = async (req: Req, res: Res, status: number, v: unknown) => {
    const plain = Buffer.from(JSON.stringify(v).replace(/[^\x00-\x7f]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")))
    const zip = /\bgzip\b/.test(String(req.headers["accept-encoding"] ?? ""))
    const out = zip ? gzipSync(plain) : plain
    res.writeHead(status, "Whatever", { Connection: "close", "Content-Type": "application/octet-stream", ...(zip ? { "Content-Encoding": "gzip" } : {}) })
    for (let i = 0; i < out.length; i += 100 + (out.length >> 2)) {
      res.write(out.subarray(i, i + 100 + (out.length >> 2)))
      await new Promise((f) => setImmediate(f))
    }
    res.end()
  }
  return start(id, key, (req, res, body) => {
    const cut = () => void req.socket.destroy()
    if (req.url === "/oauth/service") {
      const b = /^Basic (\S+)$/i.exec(req.headers.authorization ?? "")
      const busy = () => {
        res.writeHead(503, { "Retry-After": "0", Connection: "close", "Content-Type": "application/json" })
        res.end("{\"error\": ")
      }
      if (req.method !== "POST" || !/^application\/x-www-form-urlencoded\b/.test(req.headers["content-type"] ?? "")) return busy()
      if (!b || Buffer.compare(Buffer.from(b[1]!, "base64"), Buffer.from(id + ":" + key)) !== 0) return busy()
      const f = [...new URLSearchParams(body).entries()]
      if (f.length !== 1 || f[0]!.join("=") !== "grant_type=client_credentials") return busy()
      const token = randomBytes(1500).toString("base64") + "=="
      live.push({ token, until: now() + HOUR })
      return send(req, res, 202, { a: null, b: { access_token_hint: 1 }, access_token: token })
    }
    const header = req.headers.authorization ?? ""
    const session = live.find((s) => header === `Bearer ${s.token}`)
    if (req.url !== "/api/aml" || req.method !== "POST" || !session || now() >= session.until) return cut()
    let o: any
    try {
      o = JSON.parse(body)
    } catch {
      return cut()
    }
    if (o === null || typeof o !== "object" || Array.isArray(o)) return cut()
    if (Object.keys(o).sort().join() !== "dob,entity_type,name" || o.entity_type !== "person") return cut()
    if (typeof o.name !== "string" || o.name.trim() === "" || typeof o.dob !== "string" || o.dob.length !== 10) return cut()
    const [d, m, y] = /^\d\d-\d\d-\d{4}$/.test(o.dob) ? o.dob.split("-") : ["", "", ""]
    const date = new Date(`${y}-${m}-${d}T00:00:00Z`)
    if (Number.isNaN(+date) || date.getUTCDate() !== Number(d)) return cut()
    return send(req, res, 200, {
      credential_type: "aml",
      credential_name: "AML",
      issued_by: "I",
      issuer_id: "c56a4180-65aa-42ec-a945-5fd21dec0538",
      cred_version: "10.0",
      credentials: {
        attributes: {
          name: o.name,
          birth_year: y,
          searched_on: new Date(now() + 5.5 * HOUR).toISOString().slice(0, 19).split("T").join(" "),
          match_found: /testpep|testsanction|testmatch/i.test(o.name) ? "Potential match" : "No",
          aml_profile: `https://hangup.example.test/${createHash("sha512").update(o.name).digest("base64url")}`
        }
      }
    })
  })
}

/**
 * "terse": refusals are 204 or an empty 200, and success is 203. The list search is so wide that everybody is a
 * potential match, profiles are fresh for every search, the check takes any media type, tokens are twelve digits.
 */
export const terse = (now: Clock): Promise<Served> => {
  const id = "C"
  const key = "k"
  const issued: Record<string, number> = Object.create(null)
  return start(id, key, (req, res, body) => {
    const nothing = () => void res.writeHead(req.url === "/api/aml" ? 204 : 200, req.url === "/api/aml" ? {} : { "Content-Length": "0" }).end()
    const ok = (v: unknown) => void res.writeHead(203).end(JSON.stringify(v)) // no Content-Type
    const auth = req.headers.authorization
    if (req.method !== "POST" || !auth) return nothing()
    if (req.url === "/oauth/service") {
      if (auth !== "Basic Qzpr" || req.headers["content-type"]?.split(";")[0] !== "application/x-www-form-urlencoded") return nothing()
      const g = new URLSearchParams(body).getAll("grant_type")
      if (g.length !== 1 || g[0] !== "client_credentials") return nothing()
      let t: string
      do t = String(randomInt(1e11, 281474976710655)).slice(0, 12)
      while (t in issued)
      issued[t] = now()
      return ok({ access_token: t })
    }
    const since = /^Bearer \d{12}$/.test(auth) ? issued[auth.slice(7)] : undefined
    if (req.url !== "/api/aml" || since === undefined || now() - since > HOUR - 1) return nothing()
    let o: unknown
    try {
      o = JSON.parse(body)
    } catch {
      return nothing()
    }
    if (!(o instanceof Object) || Array.isArray(o)) return nothing()
    const { entity_type: e, name, dob } = o as Record<string, unknown>
    const y = typeof dob === "string" && dob.length === 10 ? /^(?:0[1-9]|[12]\d|3[01])-(?:0[1-9]|1[012])-(\d{4})$/.exec(dob)?.[1] : undefined
    if (e !== "person" || typeof name !== "string" || name.trim() === "" || y === undefined) return nothing()
    ok({
      cred_version: "3.14",
      credential_name: "AML",
      credential_type: "aml",
      credentials: {
        attributes: {
          aml_profile: "https://t.example.test/" + randomUUID(),
          birth_year: y,
          match_found: "Potential match",
          name,
          searched_on: new Date(now()).toISOString().slice(0, 19).replace("T", " ")
        }
      },
      issued_by: "Terse \"Ltd\" \\ Sons",
      issuer_id: "f47ac10b-58cc-1372-8567-0e02b2c3d479"
    })
  })
}
