/**
 * The service that every server of this folder is: it accepts only what the service document shows. A style changes what
 * the document leaves open, and a fault changes one thing that the document states. Both replace steps of the service.
 */
import { Effect, Either } from "effect"
import { randomBytes } from "node:crypto"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http"

export type Json = string | number | boolean | null | undefined | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [field: string]: Json
}

/** A request with its complete body. */
export interface Incoming {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The number of its TCP connection. */
  readonly connection: number
  /** The time of the service, in milliseconds. */
  readonly at: number
}

/** `cut` closes the connection without a response. */
export type Reply = "cut" | {
  readonly status: number
  readonly statusMessage?: string
  readonly headers: OutgoingHttpHeaders
  readonly body: string | Buffer | JsonObject
  /** How many pieces of a body without `Content-Length`. */
  readonly pieces?: number | undefined
}

/** Why the service refuses a request. `failed`: a step threw an error. */
export type Reason = "path" | "method" | "query" | "type" | "client" | "grant" | "token" | "body" | "fields" | "failed"

/** An issued access token. */
export interface Token {
  readonly value: string
  /** When its hour begins. */
  at: number
  /** How many checks presented it while it was valid, and when the last one did. */
  uses: number
  last: number
  readonly request: Incoming
}

export interface Person {
  readonly name: string
  readonly dob: string
}

/** An authorized check of a valid person. */
export interface Check extends Person {
  readonly request: Incoming
  readonly token: Token
  /** Whether the person is on a list. */
  readonly match: boolean
}

export interface Style {
  readonly customer: { readonly id: string; readonly key: string }
  /** Whether the service ignores what the document does not show: a query, other parameters, other fields. */
  readonly extras: boolean
  /** The statuses of a token response and of a credential. */
  readonly status: readonly [token: number, credential: number]
  /** The headers of both. */
  readonly headers: () => OutgoingHttpHeaders
  readonly pieces?: number
  readonly issuer: readonly [name: string, id: string, version: string]
  /** How many minutes `searched_on` is ahead of UTC. */
  readonly zone: number
  readonly refuse: (reason: Reason, q: Incoming, s: Service) => Reply
  /** The steps that it has of its own. */
  readonly changes: ReadonlyArray<Change>
}

type RequestTest = (q: Incoming) => boolean
type TextTest = (text: string) => boolean
export type FieldTest = (value: Json, q: Incoming) => boolean
export type Pair = readonly [id: string, key: string]

/** Each step may be replaced. */
export interface Steps {
  readonly decode: (chunks: ReadonlyArray<Buffer>) => string
  readonly encode: (body: string | Buffer) => readonly [bytes: Buffer, contentLength: number]
  readonly handle: (q: Incoming) => Effect.Effect<Reply>
  readonly path: (q: Incoming) => string
  readonly methodOk: RequestTest
  readonly queryOk: RequestTest
  readonly reply: (kind: "token" | "credential", body: string | Buffer, q: Incoming) => Reply
  readonly refuse: (reason: Reason, q: Incoming) => Reply
  readonly text: (value: Json) => string
  readonly media: (q: Incoming) => string
  /** What follows the scheme in an `Authorization` header. */
  readonly scheme: (header: string | undefined, word: string) => string | undefined

  readonly token: (q: Incoming) => Effect.Effect<Reply>
  readonly typeOk: RequestTest
  readonly decode64: (text: string) => string | undefined
  readonly basic: (q: Incoming) => Pair | undefined
  readonly pair: (text: string) => Pair | undefined
  readonly clientOk: RequestTest
  readonly knows: (id: string, key: string) => boolean
  readonly idOk: TextTest
  readonly keyOk: TextTest
  readonly form: (q: Incoming) => ReadonlyArray<Pair>
  readonly grantOk: RequestTest
  readonly grantIs: TextTest
  readonly mint: (q: Incoming) => string
  readonly issue: (q: Incoming) => Token
  readonly tokenBody: (value: string, token: Token, q: Incoming) => JsonObject

  readonly check: (q: Incoming) => Effect.Effect<Reply>
  readonly bearer: (q: Incoming) => string | undefined
  readonly find: (value: string) => Token | undefined
  readonly alive: (token: Token, at: number, q: Incoming) => boolean
  readonly session: (q: Incoming) => Token | undefined
  readonly jsonOk: RequestTest
  readonly parse: (q: Incoming) => Json
  readonly keysOk: (fields: JsonObject) => boolean
  readonly fields: (q: Incoming) => JsonObject | undefined
  readonly entityOk: FieldTest
  readonly nameOk: FieldTest
  readonly dobOk: FieldTest
  readonly person: (q: Incoming) => Person | undefined
  readonly listed: TextTest
  readonly matches: (check: Omit<Check, "match">) => boolean
  /** The search of the lists, during which other requests arrive. */
  readonly lists: (check: Check) => Effect.Effect<void>
  readonly search: (check: Check) => Effect.Effect<Reply>
  readonly year: (dob: string) => Json
  readonly profile: (person: Person) => string
  readonly attributes: (check: Check) => JsonObject
  readonly credential: (attributes: JsonObject, check: Check) => JsonObject
  readonly answer: (check: Check) => string | Buffer
}

export interface Service extends Steps {
  readonly customer: Style["customer"]
  readonly now: () => number
  readonly started: number
  readonly tokens: Map<string, Token>
  /** How many checks search the lists. */
  searches: number
}

/** The steps that a style or a fault replaces. `was` is the service before the change. */
export type Change = (s: Service, was: Service) => Partial<Steps>

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const parseJson = (text: string): Json => Either.getOrUndefined(Either.try((): Json => JSON.parse(text)))

/** The form in the query, or in another text. */
export const formOf = (text: string): ReadonlyArray<Pair> => [...new URLSearchParams(text)]

export const formatTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

export const formType = "application/x-www-form-urlencoded"

const correct = (style: Style, now: () => number): Service => {
  const [name, id, version] = style.issuer
  const s: Service = {
    customer: style.customer,
    now,
    started: now(),
    tokens: new Map(),
    searches: 0,

    decode: (chunks) => Buffer.concat(chunks).toString("utf8"),
    encode: (body) => {
      const bytes = Buffer.from(body)
      return [bytes, bytes.length]
    },
    handle: (q) => {
      const path = s.path(q)
      const isToken = path === "/oauth/service"
      if (!isToken && path !== "/api/aml") return Effect.succeed(s.refuse("path", q))
      if (!s.methodOk(q)) return Effect.succeed(s.refuse("method", q))
      if (!s.queryOk(q)) return Effect.succeed(s.refuse("query", q))
      return isToken ? s.token(q) : s.check(q)
    },
    path: ({ path }) => path,
    methodOk: ({ method }) => method === "POST",
    queryOk: ({ query }) => style.extras || query === "",
    reply: (kind, body) => ({
      status: style.status[kind === "token" ? 0 : 1],
      headers: style.headers(),
      body,
      pieces: style.pieces
    }),
    refuse: (reason, q) => style.refuse(reason, q, s),
    text: (value) => JSON.stringify(value),
    media: ({ headers }) => (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "",
    scheme: (header, word) => {
      const [, found, value] = /^(\S+) (\S+)$/.exec(header ?? "") ?? []
      return found === word ? value : undefined
    },

    token: (q) =>
      Effect.sync(() => {
        if (!s.typeOk(q)) return s.refuse("type", q)
        if (!s.clientOk(q)) return s.refuse("client", q)
        if (!s.grantOk(q)) return s.refuse("grant", q)
        const token = s.issue(q)
        return s.reply("token", s.text(s.tokenBody(token.value, token, q)), q)
      }),
    typeOk: (q) => s.media(q) === formType,
    decode64: (text) => {
      const decoded = Buffer.from(text, "base64")
      return decoded.toString("base64") === text ? decoded.toString("utf8") : undefined
    },
    basic: ({ headers }) => {
      const text = s.scheme(headers.authorization, "Basic")
      const decoded = text === undefined ? undefined : s.decode64(text)
      return decoded === undefined ? undefined : s.pair(decoded)
    },
    pair: (text) => {
      const colon = text.indexOf(":")
      return colon < 0 ? undefined : [text.slice(0, colon), text.slice(colon + 1)]
    },
    clientOk: (q) => {
      const pair = s.basic(q)
      return pair !== undefined && s.knows(...pair)
    },
    knows: (id, key) => s.idOk(id) && s.keyOk(key),
    idOk: (id) => id === style.customer.id,
    keyOk: (key) => key === style.customer.key,
    form: ({ body }) => formOf(body),
    grantOk: (q) => {
      const form = s.form(q)
      const [grant, ...others] = form.filter(([name]) => name === "grant_type")
      return grant !== undefined && others.length === 0 && (style.extras || form.length === 1) && s.grantIs(grant[1])
    },
    grantIs: (value) => value === "client_credentials",
    mint: () => randomBytes(20).toString("hex"),
    issue: (q) => {
      const token = { value: s.mint(q), at: q.at, uses: 0, last: q.at, request: q }
      s.tokens.set(token.value, token)
      return token
    },
    tokenBody: (value) => ({ access_token: value, token_type: "Bearer", expires_in: 3600 }),

    check: (q) =>
      Effect.suspend(() => {
        const token = s.session(q)
        if (token === undefined) return Effect.succeed(s.refuse("token", q))
        const person = s.person(q)
        if (person === undefined) return Effect.succeed(s.refuse(s.fields(q) === undefined ? "body" : "fields", q))
        s.searches += 1
        const check = { ...person, request: q, token }
        return Effect.ensuring(s.search({ ...check, match: s.matches(check) }), Effect.sync(() => (s.searches -= 1)))
      }),
    bearer: ({ headers }) => s.scheme(headers.authorization, "Bearer"),
    find: (value) => s.tokens.get(value),
    alive: (token, at) => at - token.at < HOUR,
    session: (q) => {
      const value = s.bearer(q)
      const token = value === undefined ? undefined : s.find(value)
      if (token === undefined || !s.alive(token, q.at, q)) return undefined
      token.uses += 1
      token.last = q.at
      return token
    },
    jsonOk: (q) => s.media(q) === "application/json",
    parse: ({ body }) => parseJson(body),
    keysOk: (fields) => style.extras || Object.keys(fields).every((name) => /^(entity_type|name|dob)$/.test(name)),
    fields: (q) => {
      const fields = s.jsonOk(q) ? s.parse(q) : undefined
      return isObject(fields) && s.keysOk(fields) ? fields : undefined
    },
    entityOk: (value) => value === "person",
    nameOk: (value) => typeof value === "string" && value.trim() !== "",
    dobOk: (value) => {
      const [, day = "", month = "", year = ""] =
        /^(\d\d)-(\d\d)-(\d{4})$/.exec(typeof value === "string" ? value : "") ??
          []
      const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
      return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
    },
    person: (q) => {
      const fields = s.fields(q)
      if (fields === undefined) return undefined
      const { dob, entity_type: entity, name } = fields
      return s.entityOk(entity, q) && s.nameOk(name, q) && s.dobOk(dob, q)
        ? { name: String(name ?? ""), dob: String(dob ?? "") }
        : undefined
    },
    listed: (name) => /testpep|testsanction|testmatch/i.test(name.trim().split(/\s+/).at(-1) ?? ""),
    matches: ({ name }) => s.listed(name),
    lists: () => Effect.sleep(1),
    search: (check) => Effect.andThen(s.lists(check), () => s.reply("credential", s.answer(check), check.request)),
    year: (dob) => dob.slice(6),
    profile: () => "",
    attributes: (check) => ({
      name: check.name,
      birth_year: s.year(check.dob),
      searched_on: formatTime(check.request.at + style.zone * MINUTE),
      match_found: check.match ? "Potential match" : "No",
      aml_profile: s.profile(check)
    }),
    credential: (attributes) => ({
      credential_type: "aml",
      credential_name: "AML",
      issued_by: name,
      issuer_id: id,
      cred_version: version,
      credentials: { attributes }
    }),
    answer: (check) => s.text(s.credential(s.attributes(check), check))
  }
  return s
}

/** A correct server of a style, or a wrong one with the change of a fault. */
export const make = (style: Style, now: () => number, fault?: Change): Service => {
  const service = correct(style, now)
  for (const change of fault === undefined ? style.changes : [...style.changes, fault]) {
    Object.assign(service, change(service, { ...service }))
  }
  return service
}
