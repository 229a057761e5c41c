/** Token requests and their responses, and the credentials. */
import { Effect } from "effect"
import * as Change from "../changes.ts"
import { formOf, formType, type Incoming, isObject, MINUTE, type Service, type Token } from "../service.ts"

const grantName = "client_credentials"

/** Also reads forms of these media types. */
const types = (...types: ReadonlyArray<string>): Change.Change => (s) => ({
  typeOk: (q) => [formType, ...types].includes(s.media(q))
})
/** The pair in the Basic header, however it is written. */
const given = (s: Service, q: Incoming) => s.basic(q) ?? ["", ""] as const
const plain = (base64: string): string => Buffer.from(base64, "base64").toString()
/** Also accepts credentials in the body. */
const inBody = (idField: string, keyField: string, grant?: string): Change.Change => (s, was) => {
  const isPost = ({ body }: Incoming) => {
    const form = new URLSearchParams(body)
    return (grant === undefined || form.get("grant_type") === grant) &&
      s.knows(form.get(idField) ?? "", form.get(keyField) ?? "")
  }
  return {
    clientOk: (q) => was.clientOk(q) || isPost(q),
    grantOk: (q) => was.grantOk(q) || isPost(q)
  }
}

export const token: Change.Changes = {
  "t-grant-absent": Change.grant((q, s) => s.form(q).length === 0),
  "t-grant-any": Change.grantType(() => true),
  "t-grant-empty": Change.grantType((value) => value === ""),
  "t-grant-prefix": Change.grantType((value) => value.startsWith(grantName)),
  "t-grant-case": Change.grantType((value) => value.toLowerCase() === grantName),
  "t-grant-dash": Change.grantType((value) => value.replace(/[-\s]/g, "_") === grantName),
  "t-grant-trim": Change.grantType((value) => value.trim() === grantName),
  "t-grant-substring": () => ({ grantOk: ({ body }) => body.includes(`grant_type=${grantName}`) }),
  "t-grant-last-wins": (s) => ({
    grantOk: (q) => s.form(q).filter(([name]) => name === "grant_type").at(-1)?.[1] === grantName
  }),
  "t-grant-name-case": (_s, was) => ({ form: (q) => was.form(q).map(([name, value]) => [name.toLowerCase(), value]) }),
  "t-grant-known": Change.grantType((value) => /^(password|refresh_token|authorization_code)$/.test(value)),
  "t-grant-query": () => ({
    queryOk: ({ path, query }) => path === "/oauth/service" || query === "",
    form: ({ body, query }) => [...formOf(body), ...formOf(query)]
  }),
  "t-raw-compare": () => ({ grantOk: ({ body }) => body === `grant_type=${grantName}` }),
  "t-json": Change.all(types("application/json"), (s, was) => ({
    form: (q) => {
      if (s.media(q) !== "application/json") return was.form(q)
      const body = s.parse(q)
      return isObject(body)
        ? Object.entries(body).map(([name, value]) => [name, typeof value === "string" ? value : ""])
        : []
    }
  })),
  "t-type-absent": types(""),
  "t-type-any": () => ({ typeOk: () => true }),
  "t-type-text": types("text/plain"),
  "t-multipart": Change.all(types("multipart/form-data"), (s, was) => ({
    form: (q) =>
      s.media(q) === "multipart/form-data"
        ? [...q.body.matchAll(/name="([^"]*)"\r?\n(?:[^\r\n]+\r?\n)*\r?\n([^\r\n]*)/g)]
          .map(([, name = "", value = ""]) => [name, value])
        : was.form(q)
  })),
  "t-body-grants-no-basic": inBody("username", "password", "password"),
  "t-second-null": Change.stateful(() => ({ shown: -Infinity }), (state) =>
    Change.tokenValue((value, _token, q) => {
      if (q.at - state.shown < 10 * MINUTE) return null
      state.shown = q.at
      return value
    })),
  "t-space-token": (_s, was) => {
    const isThird = Change.every(3)
    return { mint: (q) => isThird() ? was.mint(q).replace(/^.{20}/, "$& ") : was.mint(q) }
  },
  "t-dead-token": Change.stateful(() => Change.every(4), (isFourth) =>
    Change.onIssue((token, _q, s) => {
      if (!isFourth()) return
      s.tokens.delete(token.value)
      s.tokens.set(token.value.slice(0, 32), token)
    })),
  "c-key-ignored": Change.key(() => true),
  "c-cache-id": (s) => {
    let good = -Infinity
    return {
      clientOk: (q) => {
        const [id, key] = given(s, q)
        const known = s.knows(id, key)
        const ok = known || (id === s.customer.id && q.at < good)
        if (known) good = q.at + MINUTE
        return ok
      }
    }
  },
  "c-cache-first": (s) => {
    const seen = new Set<string>()
    return {
      clientOk: (q) => {
        const pair = given(s, q)
        const ok = s.knows(...pair) || (pair[0] === s.customer.id && seen.has(pair.join(":")))
        seen.add(pair.join(":"))
        return ok
      }
    }
  },
  "c-third-try": (s) => {
    let failures = 0
    return {
      clientOk: (q) => {
        const pair = given(s, q)
        const known = s.knows(...pair)
        if (known || pair[0] === s.customer.id) failures = known ? 0 : failures + 1
        return known || (pair[0] === s.customer.id && failures > 2)
      }
    }
  },
  "c-race": (s, was) => {
    let pair: readonly [string, string] = ["", ""]
    return {
      token: (q) =>
        Effect.suspend(() => {
          if (!s.typeOk(q)) return was.token(q)
          pair = given(s, q)
          return Effect.zipRight(Effect.sleep(12), was.token(q))
        }),
      clientOk: () => s.knows(...pair)
    }
  },
  "c-id-ignored": Change.id(() => true),
  "c-id-case": Change.id((found, id) => found.toLowerCase() === id.toLowerCase()),
  "c-id-trim": Change.id((found, id) => found.trim() === id),
  "c-key-case": Change.key((found, key) => found.toLowerCase() === key.toLowerCase()),
  "c-bcrypt-72": Change.key((found, key) => found.slice(0, 72) === key.slice(0, 72)),
  "c-des-8": Change.key((found, key) => found.slice(0, 8) === key.slice(0, 8)),
  "c-key-prefix": Change.key((found, key) => key.startsWith(found)),
  "c-key-suffix": Change.key((found, key) => found.startsWith(key)),
  "c-key-trim": Change.key((found, key) => found.trim() === key),
  "c-empty-key": Change.key((found, key) => found === "" || found === key),
  "c-like": Change.key((found, key) => found === key || (found.endsWith("%") && key.startsWith(found.slice(0, -1)))),
  "c-injection": Change.key((found, key) => found === key || /'\s*or\s*('1'\s*=\s*'1|1\s*=\s*1)/i.test(found)),
  "c-id-as-key": Change.accepts((id, key, customer) => id === customer.id && key === id),
  "c-key-tail": Change.key((found, key) => found.split(":").at(-1) === key.split(":").at(-1)),
  "c-key-head": Change.key((found, key) => found.split(":")[0] === key.split(":")[0]),
  "c-swapped": ({ customer: { id, key } }, was) => ({
    pair: (text) => text === `${key}:${id}` ? [id, key] : was.pair(text)
  }),
  "c-separator": ({ customer: { id, key } }) => ({
    pair: (text) => text.replace(":", "") === id + key ? [id, key] : undefined
  }),
  "c-secret-post": inBody("client_id", "client_secret"),
  "c-customer-post": inBody("customer_id", "customer_key"),
  "c-raw": Change.credentialsIn((q, { customer: { id, key } }) =>
    q.headers.authorization === `Basic ${id}:${key}` ? [id, key] : undefined
  ),
  "c-scheme-any": (s) => ({ basic: ({ headers }) => s.pair(plain(headers.authorization?.split(" ")[1] ?? "")) }),
  "c-scheme-none": (s) => ({
    basic: ({ headers }) => s.pair(plain(headers.authorization?.replace("Basic ", "") ?? ""))
  }),
  "c-twice": (_s, was) => ({ pair: (text) => was.pair(text) ?? was.pair(plain(text)) }),
  "c-no-colon": (s, was) => ({ pair: (text) => text.includes(":") ? was.pair(text) : [text, s.customer.key] }),
  "c-connection": Change.loggedIn,
  "c-two-headers": (_s, was) => ({
    basic: (q) =>
      was.basic(q.headers.authorization ? q : { ...q, headers: { authorization: q.headers["proxy-authorization"] } })
  }),
  "c-absent": Change.client((q) => q.headers.authorization === undefined),
  "c-unknown-empty": (s) => ({ knows: (id, key) => key === (id === s.customer.id ? s.customer.key : "") }),
  "c-default-pair": Change.accepts((id, key) =>
    id === "admin" && /^(admin|password)$/.test(key) || id === "test" && key === "test"
  ),
  "k-token-lost": Change.storesLate(12, (token, s) => {
    const copy = [...Change.tokensOf(s), token]
    return () => {
      s.tokens.clear()
      for (const token of copy) s.tokens.set(token.value, token)
    }
  }),
  "k-replica": Change.stateful(() => new Map<Token, number>(), (created) =>
    Change.all(
      Change.onIssue((token) => created.set(token, performance.now())),
      Change.onlyIf((token) => performance.now() - (created.get(token) ?? 0) > 150)
    ))
}
