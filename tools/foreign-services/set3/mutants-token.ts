// Token request, token response and credentials.
import { area, type Mutant } from "./define.ts"
import { S } from "./doc.ts"
import { ID, KEY, sleep, type Rq, type Strict } from "./strict.ts"

const t = area("token request and response")
const c = area("credentials")
const values = (s: Strict, q: Rq) => s.form(q).filter(([k]) => k === "grant_type").map(([, v]) => v)
const CC = "client_credentials"
/** The pair in the Basic header, however it is written. */
const given = (s: Strict, q: Rq): [string, string] => s.basic(q) ?? ["", ""]

export const token: ReadonlyArray<Mutant> = [
  t("t-grant-absent", S.grant, "no grant_type means the default grant", (s) => {
    const was = s.grantOk.bind(s)
    s.grantOk = (q) => s.form(q).length === 0 || was(q)
  }),
  t("t-grant-any", S.grant, "a service with one grant never looks at its name", (s) => {
    s.grantIs = () => true
  }),
  t("t-grant-empty", S.grant, "if (grantType && grantType !== ...) lets an empty one through", (s) => {
    s.grantIs = (v) => !v || v === CC
  }),
  t("t-grant-prefix", S.grant, "startsWith: client_credentials_v2 is the same grant", (s) => {
    s.grantIs = (v) => v.startsWith(CC)
  }),
  t("t-grant-case", S.grant, "the grant is an enum parsed without regard to case", (s) => {
    s.grantIs = (v) => v.toLowerCase() === CC
  }),
  t("t-grant-dash", S.grant, "client-credentials is mapped to the same enum constant", (s) => {
    s.grantIs = (v) => v.replace(/[-\s]/g, "_") === CC
  }),
  t("t-grant-trim", S.grant, "the value is trimmed before it is compared", (s) => {
    s.grantIs = (v) => v.trim() === CC
  }),
  t("t-grant-known", S.step1, "the library's other grants are enabled too: password and refresh_token", (s) => {
    s.grantIs = (v) => [CC, "password", "refresh_token", "authorization_code"].includes(v)
  }),
  t("t-grant-substring", S.grant, "body.includes(\"grant_type=client_credentials\"): a parameter old_grant_type will do", (s) => {
    s.grantOk = (q) => q.text.includes("grant_type=" + CC)
  }),
  t("t-grant-last-wins", S.grant, "grant_type=password&grant_type=client_credentials: the last one counts", (s) => {
    s.grantOk = (q) => values(s, q).at(-1) === CC
  }),
  t("t-grant-name-case", S.grant, "GRANT_TYPE and Grant_Type are the parameter too", (s) => {
    const was = s.form.bind(s)
    s.form = (q) => was(q).map(([k, v]) => [k.toLowerCase(), v])
  }),
  t("t-grant-query", S.formBody, "parameters of the address and the body are merged, so grant_type may be in the address", (s) => {
    s.queryOk = (q) => q.path === "/oauth/service" || q.query === ""
    s.form = (q) => [...new URLSearchParams(q.text), ...new URLSearchParams(q.query)]
  }),
  t("t-json", S.formType, "a body parser for JSON is installed for all routes", (s) => {
    s.formOk = (q) => ["application/x-www-form-urlencoded", "application/json"].includes(s.media(q))
    const was = s.form.bind(s)
    s.form = (q) => s.media(q) === "application/json" ? Object.entries(s.parse(q) ?? {}) : was(q)
  }),
  t("t-type-absent", S.formType, "a request without Content-Type is read as a form", (s) => {
    s.formOk = (q) => ["application/x-www-form-urlencoded", ""].includes(s.media(q))
  }),
  t("t-type-any", S.formType, "the body is read as a form whatever its Content-Type says", (s) => {
    s.formOk = () => true
  }),
  t("t-type-text", S.formType, "text/plain is taken for a form because of one old client", (s) => {
    s.formOk = (q) => ["application/x-www-form-urlencoded", "text/plain"].includes(s.media(q))
  }),
  t("t-raw-compare", S.formBody, "the body is compared as text, so client%5Fcredentials, the same form, is refused", (s) => {
    s.grantOk = (q) => q.text === "grant_type=" + CC
  }),
  t("t-multipart", S.formType, "multipart/form-data is parsed as well", (s) => {
    const multi = (q: Rq) => s.media(q) === "multipart/form-data"
    const [formOk, form] = [s.formOk.bind(s), s.form.bind(s)]
    s.formOk = (q) => formOk(q) || multi(q)
    s.form = (q) => multi(q) ? [...q.text.matchAll(/name="([^"]*)"\r?\n(?:[^\r\n]+\r?\n)*\r?\n([^\r\n]*)/g)].map((m) => [m[1]!, m[2]!]) : form(q)
  }),
  t("t-body-grants-no-basic", S.basic, "grant_type=password with username and password in the body and no Authorization", (s) => {
    const [client, grant] = [s.clientOk.bind(s), s.grantOk.bind(s)]
    const password = (q: Rq) => {
      const f = new URLSearchParams(q.text)
      return f.get("grant_type") === "password" && s.knows(f.get("username") ?? "", f.get("password") ?? "")
    }
    s.clientOk = (q) => client(q) || password(q)
    s.grantOk = (q) => grant(q) || password(q)
  }),
  t("t-second-null", S.carry, "the token is shown once; a second request in its hour answers with null", (s) => {
    const was = s.tokenBody.bind(s)
    s.tokenBody = (x) => {
      const body = was(x)
      if (s.now() - (s.memo.shown ?? -Infinity) < 600_000) body.access_token = null
      else s.memo.shown = s.now()
      return body
    }
  }),
  t("t-space-token", S.step2, "every third token holds a space instead of a plus, so it cannot be sent as a Bearer token", (s) => {
    const was = s.mint.bind(s)
    s.mint = () => (s.memo.n = (s.memo.n ?? 0) + 1) % 3 === 0 ? was().slice(0, 20) + " " + was().slice(20) : was()
  }),
  t("t-dead-token", S.hour, "every fourth token is stored in a column that is too short and never works", (s) => {
    s.issue = (q) => {
      const x = { token: s.mint(), born: q.at, uses: 0 }
      s.memo.n = (s.memo.n ?? 0) + 1
      s.sessions.set(s.memo.n % 4 === 0 ? x.token.slice(0, 32) : x.token, x)
      return x
    }
  }),

  c("c-key-ignored", S.step1, "only customer_id is looked up", (s) => {
    s.keyOk = () => true
  }),
  c("c-id-ignored", S.idRow, "the customer is found by the hash of the key alone", (s) => {
    s.idOk = () => true
  }),
  c("c-key-case", S.keyRow, "the key is compared by a database collation that ignores case", (s) => {
    s.keyOk = (k) => k.toLowerCase() === KEY.toLowerCase()
  }),
  c("c-id-case", S.idRow, "the id is compared by a database collation that ignores case", (s) => {
    s.idOk = (i) => i.toLowerCase() === ID.toLowerCase()
  }),
  c("c-bcrypt-72", S.keyRow, "bcrypt hashes the first 72 bytes of the key only", (s) => {
    s.keyOk = (k) => k.slice(0, 72) === KEY.slice(0, 72)
  }),
  c("c-des-8", S.keyRow, "crypt(3) hashes the first 8 characters of the key only", (s) => {
    s.keyOk = (k) => k.slice(0, 8) === KEY.slice(0, 8)
  }),
  c("c-key-prefix", S.keyRow, "the comparison stops at the end of the given key, so a beginning (or nothing) will do", (s) => {
    s.keyOk = (k) => KEY.startsWith(k)
  }),
  c("c-key-suffix", S.keyRow, "the comparison stops at the end of the stored key, so more characters may follow", (s) => {
    s.keyOk = (k) => k.startsWith(KEY)
  }),
  c("c-key-trim", S.keyRow, "CHAR columns: trailing spaces of the key do not count", (s) => {
    s.keyOk = (k) => k.trim() === KEY
  }),
  c("c-id-trim", S.idRow, "spaces around the id do not count", (s) => {
    s.idOk = (i) => i.trim() === ID
  }),
  c("c-key-tail", S.basic, "split(\":\").pop(): only what follows the last colon of the key is compared", (s) => {
    s.keyOk = (k) => k.split(":").pop() === KEY.split(":").pop()
  }),
  c("c-key-head", S.basic, "const [id, key] = text.split(\":\"): what follows a colon in the key is dropped on both sides", (s) => {
    s.keyOk = (k) => k.split(":")[0] === KEY.split(":")[0]
  }),
  c("c-swapped", S.basic, "key, colon, id is accepted as well", (s) => {
    s.pair = (text) => text === `${KEY}:${ID}` ? [ID, KEY] : text.includes(":") ? [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)] : undefined
  }),
  c("c-separator", S.basic, "id and key without a colon, only concatenated, hash to the same value", (s) => {
    s.clientOk = (q) => given(s, q).join("") === ID + KEY
    s.pair = (text) => [text.replace(":", ""), ""]
  }),
  c("c-secret-post", S.basic, "client_id and client_secret in the body replace the header", (s) => {
    const [client, grant] = [s.clientOk.bind(s), s.grantOk.bind(s)]
    const post = (q: Rq) => s.knows(new URLSearchParams(q.text).get("client_id") ?? "", new URLSearchParams(q.text).get("client_secret") ?? "")
    s.clientOk = (q) => client(q) || post(q)
    s.grantOk = (q) => grant(q) || post(q)
  }),
  c("c-customer-post", S.basic, "customer_id and customer_key in the body replace the header", (s) => {
    const [client, grant] = [s.clientOk.bind(s), s.grantOk.bind(s)]
    const post = (q: Rq) => s.knows(new URLSearchParams(q.text).get("customer_id") ?? "", new URLSearchParams(q.text).get("customer_key") ?? "")
    s.clientOk = (q) => client(q) || post(q)
    s.grantOk = (q) => grant(q) || post(q)
  }),
  c("c-absent", S.obtained, "the middleware checks the header only if there is one", (s) => {
    const was = s.clientOk.bind(s)
    s.clientOk = (q) => q.head.authorization === undefined || was(q)
  }),
  c("c-raw", S.basic, "id, colon and key are accepted without base64", (s) => {
    const was = s.basic.bind(s)
    s.basic = (q) => q.head.authorization === `Basic ${ID}:${KEY}` ? [ID, KEY] : was(q)
  }),
  c("c-scheme-any", S.basic, "header.split(\" \")[1]: the word before the credentials is not read", (s) => {
    s.basic = (q) => s.pair(Buffer.from((q.head.authorization ?? "").split(" ")[1] ?? "", "base64").toString())
  }),
  c("c-scheme-none", S.basic, "header.replace(\"Basic \", \"\"): the word may be missing", (s) => {
    s.basic = (q) => s.pair(Buffer.from((q.head.authorization ?? "").replace("Basic ", ""), "base64").toString())
  }),
  c("c-twice", S.basic, "base64 applied twice is unwrapped", (s) => {
    const was = s.pair.bind(s)
    s.pair = (text) => was(text) ?? was(Buffer.from(text, "base64").toString())
  }),
  c("c-unknown-empty", S.issued, "(keys[id] ?? \"\") === key: an unknown id with an empty key is a customer", (s) => {
    s.knows = (i, k) => (i === ID ? KEY : "") === k
  }),
  c("c-no-colon", S.basic, "without a colon the key is undefined and its comparison is skipped", (s) => {
    s.pair = (text) => text.includes(":") ? [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)] : [text, KEY]
  }),
  c("c-empty-key", S.keyRow, "if (key && key !== stored): an empty key is no wrong key", (s) => {
    s.keyOk = (k) => !k || k === KEY
  }),
  c("c-like", S.keyRow, "WHERE key LIKE ?: a per cent sign is any key", (s) => {
    s.keyOk = (k) => k === KEY || k === "%" || (k.endsWith("%") && KEY.startsWith(k.slice(0, -1)))
  }),
  c("c-injection", S.keyRow, "the query is put together from text: ' OR '1'='1 is any key", (s) => {
    s.keyOk = (k) => k === KEY || /'\s*or\s*('1'\s*=\s*'1|1\s*=\s*1)/i.test(k)
  }),
  c("c-default-pair", S.issued, "the vendor's account admin:admin was not removed", (s) => {
    const was = s.knows.bind(s)
    s.knows = (i, k) => was(i, k) || (i === "admin" && ["admin", "password"].includes(k)) || (i === "test" && k === "test")
  }),
  c("c-id-as-key", S.keyRow, "the key is preset to the id until the customer changes it, and remains valid", (s) => {
    s.keyOk = (k) => k === KEY || k === ID
  }),
  c("c-cache-id", S.step1, "after a good login the id alone is good for a minute", (s) => {
    s.clientOk = (q) => {
      const [i, k] = given(s, q)
      const ok = s.knows(i, k) || (i === ID && q.at < (s.memo.good ?? 0))
      if (s.knows(i, k)) s.memo.good = q.at + 60_000
      return ok
    }
  }),
  c("c-cache-first", S.step1, "the pair is put in the cache before it is checked, so the same wrong pair succeeds the second time", (s) => {
    const seen = new Set<string>()
    s.clientOk = (q) => {
      const pair = given(s, q)
      const ok = pair[0] === ID && seen.has(pair.join(":")) || s.knows(...pair)
      seen.add(pair.join(":"))
      return ok
    }
  }),
  c("c-third-try", S.step1, "after two failures the fallback to the other user store says yes", (s) => {
    s.clientOk = (q) => {
      const pair = given(s, q)
      if (s.knows(...pair)) return !(s.memo.failed = 0)
      return pair[0] === ID && (s.memo.failed = (s.memo.failed ?? 0) + 1) > 2
    }
  }),
  c("c-race", S.step1, "the credentials wait in a variable of the module while the key store is read", (s) => {
    s.clientOk = async (q) => {
      s.memo.pair = given(s, q)
      await sleep(12)
      return s.knows(...(s.memo.pair as [string, string]))
    }
  }),
  c("c-connection", S.basic, "a connection that has logged in once stays logged in", (s) => {
    s.clientOk = (q) => (q.socket.loggedIn ||= s.knows(...given(s, q)))
  }),
  c("c-two-headers", S.basic, "Proxy-Authorization counts if Authorization is missing", (s) => {
    const was = s.basic.bind(s)
    s.basic = (q) => was(q.head.authorization ? q : { ...q, head: { authorization: q.head["proxy-authorization"] } })
  })
]
