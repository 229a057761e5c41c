/** The use and the hour of a token, several tokens, concurrency and caches, methods, and refusals that have a result. */
import { Effect } from "effect"
import * as Change from "../changes.ts"
import {
  formOf,
  formType,
  HOUR,
  type Incoming,
  isObject,
  type Json,
  type JsonObject,
  MINUTE,
  type Reply,
  type Service,
  type Token
} from "../service.ts"

const DAY = 24 * HOUR

const auth = (q: Incoming): string => q.headers.authorization ?? ""
const headerOf = (q: Incoming, name: string): string | undefined => q.headers[name]?.toString()
const until = (end: (token: Token) => number): Change.Change => Change.valid((token, at) => at < end(token))
const fieldsOf = (q: Incoming, s: Service): JsonObject => {
  const found = s.parse(q)
  return isObject(found) ? found : {}
}
/** The credential of the person in a request, whatever is wrong with it. */
const result = (q: Incoming, s: Service): JsonObject => {
  const { dob, name } = fieldsOf(q, s)
  if (typeof name !== "string") return {}
  const person = { name, dob: typeof dob === "string" ? dob : "", request: q, token: Change.guest(q) }
  const check = { ...person, match: s.matches(person) }
  return s.credential(s.attributes(check), check)
}
const credentialIn = (reasons: RegExp, test: (q: Incoming, s: Service) => boolean): Change.Change =>
  Change.inRefusal(reasons, (q, s) => test(q, s) ? result(q, s) : {})
const newTokenIn = (reasons: RegExp): Change.Change =>
  Change.inRefusal(reasons, (q, s) => {
    const token = s.issue(q)
    return s.tokenBody(token.value, token, q)
  })
const methodsAt = (path: string, ...methods: ReadonlyArray<string>): Change.Change => () => ({
  methodOk: (q) => q.method === "POST" || (q.path === path && (methods.length === 0 || methods.includes(q.method)))
})
const isGet = ({ method }: Incoming): boolean => method === "GET"
const formIn = (query: string): JsonObject => Object.fromEntries(formOf(query))
const identity = ({ dob, name }: { readonly name: string; readonly dob: string }): string => name + dob

export const state: Change.Changes = {
  "u-no-header": Change.open((q) => auth(q) === ""),
  "u-basic-direct": Change.open((q, s) => {
    const pair = s.basic(q)
    return pair !== undefined && s.knows(...pair)
  }),
  "u-key-bearer": Change.open((q, s) => auth(q) === `Bearer ${s.customer.key}`),
  "u-id-bearer": Change.open((q, s) => auth(q) === `Bearer ${s.customer.id}`),
  "u-scheme-any": () => ({ bearer: (q) => /^\S+ (\S+)$/.exec(auth(q))?.[1] }),
  "u-bare": () => ({ bearer: (q) => auth(q).replace("Bearer ", "") }),
  "u-no-space": () => ({ bearer: (q) => auth(q).startsWith("Bearer") ? auth(q).slice(7) : undefined }),
  "u-any": Change.open((q) => /^Bearer [\w-]{40}$/.test(auth(q))),
  "u-any-at-all": Change.open((q) => auth(q) !== ""),
  "u-query": Change.all(
    Change.tokenIn((q) => new URLSearchParams(q.query).get("access_token") ?? undefined),
    () => ({ queryOk: () => true })
  ),
  "u-body": Change.all(
    Change.tokenIn((q, s) => fieldsOf(q, s)["access_token"]?.toString()),
    () => ({ keysOk: () => true })
  ),
  "u-cookie": Change.tokenIn((q) => /(?:access_)?token=([^;\s]+)/.exec(q.headers.cookie ?? "")?.[1]),
  "u-header": Change.tokenIn((q) => headerOf(q, "x-access-token") ?? headerOf(q, "x-auth-token")),
  "u-case": Change.finds((found, issued) => found.toLowerCase() === issued.toLowerCase()),
  "u-first-half": Change.finds((found, issued) => issued.slice(0, 20) === found.slice(0, 20)),
  "u-last-char": Change.finds((found, issued) =>
    issued.length === found.length && issued.slice(0, -1) === found.slice(0, -1)
  ),
  "u-second-half": Change.finds((found, issued) => issued.slice(20) === found.slice(20)),
  "u-longer": Change.finds((found, issued) => found.startsWith(issued)),
  "u-shorter": Change.finds((found, issued) => found.length >= 10 && issued.startsWith(found)),
  "u-undefined": Change.open((q) => /^Bearer ?(undefined|null|)$/.test(auth(q))),
  "u-last-issued": (s, was) => ({ find: (value) => was.find(value) ?? Change.tokensOf(s).at(-1) }),
  "u-connection": Change.stateful(
    () => new Map<number, Token | undefined>(),
    (sessions) =>
      Change.session((token, q) => {
        const kept = token ?? (auth(q) === "" ? sessions.get(q.connection) : undefined)
        sessions.set(q.connection, kept)
        return kept
      })
  ),
  "u-after-login": Change.stateful(() => new Set<number>(), (connections) =>
    Change.all(
      Change.onIssue((_token, q) => connections.add(q.connection)),
      Change.open((q) => auth(q) === "" && connections.has(q.connection))
    )),
  "u-once": Change.onlyIf((token) => token.uses < 1),
  "u-five": Change.onlyIf((token) => token.uses < 5),
  "u-burnt": Change.onRefusal(/body|fields/, (q, s) => s.tokens.delete(s.bearer(q) ?? "")),
  "u-conn-bound": Change.onOneConnection,
  "u-agent-bound": Change.onlyIf((token, q) => token.request.headers["user-agent"] === q.headers["user-agent"]),
  "u-idle": Change.onlyIf((token, q) => q.at - token.last <= 20 * MINUTE),
  "e-never": Change.valid(() => true),
  "e-half": Change.lives(HOUR / 2),
  "e-early": Change.lives(59 * MINUTE),
  "e-five-early": Change.lives(55 * MINUTE),
  "e-leeway-5": Change.lives(65 * MINUTE),
  "e-leeway-1": Change.lives(61 * MINUTE),
  "e-leeway-10s": Change.lives(HOUR + 10_000),
  "e-millis": Change.lives(3600),
  "e-clock-hour": until(({ at }) => (Math.floor(at / HOUR) + 1) * HOUR),
  "e-introspection": Change.stateful(() => new Map<Token, number>(), (cached) => (_s, was) => ({
    alive: (token, at, q) => {
      const ok = was.alive(token, at, q)
      if (at < (cached.get(token) ?? 0)) return true
      if (ok) cached.set(token, at + 5 * MINUTE)
      return ok
    }
  })),
  "e-time-of-day": Change.valid((token, at) => (at - token.at) % DAY < HOUR),
  "e-used-forever": (_s, was) => ({ alive: (token, at, q) => token.uses > 0 || was.alive(token, at, q) }),
  "e-start": Change.valid((token, at, s) =>
    Math.floor((at - s.started) / HOUR) === Math.floor((token.at - s.started) / HOUR)
  ),
  "e-second-try": Change.renewedByRefusal,
  "e-wrap": Change.valid((token, at) => ((at - token.at) | 0) < HOUR),
  "e-day": Change.lives(DAY),
  "e-two": Change.lives(2 * HOUR),
  "e-seconds-as-minutes": Change.lives(3600 * MINUTE),
  "e-two-keys": until(({ at }) => (Math.floor(at / HOUR) + 2) * HOUR),
  "e-sweep": until(({ at }) => Math.ceil((at + HOUR) / (10 * MINUTE) + 1e-9) * 10 * MINUTE),
  "e-sliding": until(({ last }) => last + HOUR),
  "e-first-use": Change.fromFirstUse,
  "e-refused-use": Change.onRefusal(/body|fields/, (q, s) => {
    const token = s.tokens.get(s.bearer(q) ?? "")
    if (token !== undefined) token.at = q.at
  }),
  "p-single": Change.endsOthers,
  "p-three": Change.keepsThree,
  "p-cached": Change.issuedAgain,
  "p-shared-end": Change.stateful(() => ({ at: -Infinity }), (state) =>
    Change.onIssue((token, q) => {
      if (q.at - state.at >= HOUR) state.at = q.at
      token.at = state.at
    })),
  "p-failed-login": (s, was) => ({
    knows: (id, key) => {
      const ok = was.knows(id, key)
      if (!ok && id === s.customer.id) s.tokens.clear()
      return ok
    }
  }),
  "p-failed-grant": Change.onRefusal(/grant/, (_q, s) => s.tokens.clear()),
  "p-unknown-token": (s, was) => ({
    find: (value) => {
      const token = was.find(value)
      if (token === undefined && value.length > 20) s.tokens.clear()
      return token
    }
  }),
  "p-expired-use": (s, was) => ({
    alive: (token, at, q) => {
      const ok = was.alive(token, at, q)
      if (!ok) s.tokens.clear()
      return ok
    }
  }),
  "p-new-kills-busy": Change.onIssue((token, _q, s) => {
    for (const other of Change.tokensOf(s)) if (other !== token && other.uses > 0) s.tokens.delete(other.value)
  }),
  "p-extend": Change.renewsOthers,
  "p-resurrect": Change.stateful(() => ({ at: -Infinity }), (state) =>
    Change.all(
      Change.onIssue((_token, q) => (state.at = q.at)),
      Change.valid((_token, at) => at - state.at < HOUR)
    )),
  "k-name-cross": Change.stateful(
    () => ({ name: "" }),
    (state) => Change.all(Change.slowly(12, ({ name }) => (state.name = name)), Change.field("name", () => state.name))
  ),
  "k-cache-fold": Change.cached(
    ({ dob, name }) => name.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase() + dob,
    10 * MINUTE
  ),
  "k-cache-dob": Change.cached(({ dob }) => dob, 10 * MINUTE),
  "k-cache-token": Change.stateful(
    () => new Map<Token, readonly [at: number, reply: Reply]>(),
    (replies) => (_s, was) => ({
      search: (check) => {
        const { request, token } = check
        const [at, reply] = replies.get(token) ?? []
        if (at !== undefined && reply !== undefined && request.at - at < 1000) return Effect.succeed(reply)
        return Effect.tap(was.search(check), (reply) => replies.set(token, [request.at, reply]))
      }
    })
  ),
  "k-cache-length": Change.cached(({ name }) => String(name.length), 10 * MINUTE),
  "k-flight": Change.joined(({ dob }) => dob, 12),
  "k-dob-cross": Change.stateful(
    () => ({ dob: "" }),
    (state) =>
      Change.all(
        Change.slowly(12, ({ dob }) => (state.dob = dob)),
        Change.field("birth_year", () => state.dob.slice(6))
      )
  ),
  "k-cache-name": Change.cached(({ name }) => name, 10 * MINUTE),
  "k-cache-time": Change.cached(identity, 10 * MINUTE),
  "k-cache-open": Change.stateful(() => new Map<string, Reply>(), (replies) => (_s, was) => ({
    check: (q) => {
      const reply = replies.get(q.body)
      if (reply !== undefined) return Effect.succeed(reply)
      return Effect.tap(was.check(q), (reply) => {
        if (reply !== "cut" && reply.status === 200) replies.set(q.body, reply)
      })
    }
  })),
  "k-session-cross": (_s, was) => {
    let caller: Token | undefined
    return {
      check: (q) =>
        Effect.suspend(() => {
          caller = was.session(q)
          return Effect.zipRight(Effect.sleep(12), was.check(q))
        }),
      session: () => caller
    }
  },
  "k-poison": (_s, was) => {
    let aborted = false
    return {
      person: (q) => {
        const person = aborted ? undefined : was.person(q)
        aborted = person === undefined && !aborted
        return person
      }
    }
  },
  "k-regexp": (_s, was) => {
    const form = /^(\d{2})-(\d{2})-(\d{4})$/g
    return { dobOk: (value, q) => typeof value === "string" && form.test(value) && was.dobOk(value, q) }
  },
  "k-remember": Change.stateful(
    (): { last: JsonObject } => ({ last: {} }),
    (state) => Change.reads((found) => isObject(found) ? (state.last = { ...state.last, ...found }) : found)
  ),
  "k-profile-late": Change.again("aml_profile", identity, (found, isKnown) => isKnown ? found : undefined),
  "k-pending": Change.again("match_found", ({ name }) => name, (found, isKnown) => isKnown ? found : "Pending"),
  "k-busy": Change.all(
    Change.slowly(12, () => {}),
    Change.field("match_found", (found, _check, s) => s.searches > 1 ? "Unknown" : found)
  ),
  "m-token-get": Change.all(
    methodsAt("/oauth/service", "GET"),
    (_s, was) => ({
      queryOk: (q) => isGet(q) || was.queryOk(q),
      typeOk: (q) => isGet(q) || was.typeOk(q),
      form: (q) => isGet(q) ? formOf(q.query) : was.form(q)
    })
  ),
  "m-token-all": methodsAt("/oauth/service"),
  "m-aml-all": methodsAt("/api/aml"),
  "m-aml-get": Change.all(methodsAt("/api/aml", "GET"), (_s, was) => ({
    queryOk: (q) => isGet(q) || was.queryOk(q),
    jsonOk: (q) => isGet(q) || was.jsonOk(q),
    parse: (q) => isGet(q) ? formIn(q.query) : was.parse(q)
  })),
  "m-override": () => ({ methodOk: (q) => q.method === "POST" || q.headers["x-http-method-override"] === "POST" }),
  "m-put-open": Change.all(methodsAt("/api/aml"), Change.open((q) => q.method !== "POST")),
  "m-put-token-open": Change.all(methodsAt("/oauth/service"), Change.client((q) => q.method !== "POST")),
  "m-aml-form": (s, was) => ({
    jsonOk: (q) => s.media(q) === formType || was.jsonOk(q),
    parse: (q) => s.media(q) === formType ? formIn(q.body) : was.parse(q)
  }),
  "m-aml-query": (_s, was) => ({
    queryOk: () => true,
    jsonOk: (q) => q.body === "" || was.jsonOk(q),
    parse: (q) => {
      const found = was.parse(q)
      return { ...formIn(q.query), ...(typeof found === "object" && found) }
    }
  }),
  "x-token-401": newTokenIn(/client/),
  "x-grant-400": newTokenIn(/grant/),
  "x-type-415": newTokenIn(/type/),
  "x-last-token": Change.inRefusal(/client/, (_q, s) => ({ access_token: Change.tokensOf(s).at(-1)?.value })),
  "x-debug": Change.inRefusal(
    /client|grant/,
    (_q, s) => ({ debug: { sessions: [...s.tokens.values()].map(({ value }) => value) } })
  ),
  "x-header-token": (s, was) => ({
    refuse: (reason, q) => {
      const reply = was.refuse(reason, q)
      return reply === "cut" || reason !== "client"
        ? reply
        : { ...reply, headers: { ...reply.headers, "X-Access-Token": s.issue(q).value } }
    }
  }),
  "x-no-token-credential": credentialIn(/token/, (q) => auth(q) === ""),
  "x-expired-credential": credentialIn(/token/, (q, s) => s.tokens.has(s.bearer(q) ?? "")),
  "x-unknown-credential": credentialIn(/token/, (q, s) => auth(q) !== "" && !s.tokens.has(s.bearer(q) ?? "")),
  "x-unknown-second": Change.stateful(() => new Set<string>(), (noted) =>
    Change.open((q, s) => {
      const value = s.bearer(q)
      if (value === undefined || s.tokens.has(value)) return false
      const isNoted = noted.has(value)
      noted.add(value)
      return isNoted
    })),
  "x-entity-credential": credentialIn(/body|fields/, (q, s) => fieldsOf(q, s)["entity_type"] !== "person"),
  "x-dob-credential": credentialIn(/body|fields/, (q, s) => !s.dobOk(fieldsOf(q, s)["dob"], q)),
  "x-warning": (_s, was) => ({
    dobOk: () => true,
    year: (dob): Json => /\d{4}/.exec(dob)?.[0] ?? null,
    credential: (attributes, check) => ({ ...was.credential(attributes, check), warnings: ["dob"] })
  }),
  "x-method-credential": credentialIn(/method/, (q) => q.path === "/api/aml")
}
