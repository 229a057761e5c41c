/** The changes that several wrong servers make. */
import { Effect } from "effect"
import {
  type Change,
  type Check,
  type FieldTest,
  HOUR,
  type Incoming,
  type Json,
  type JsonObject,
  type Reply,
  type Service,
  type Token
} from "./service.ts"

export type { Change }

/** The changes of wrong servers, by id. */
export type Changes = Readonly<Record<string, Change>>

/** Keeps the first value of each key. */
export const memory = <K, V>(): (key: K, value: () => V) => V => {
  const values = new Map<K, V>()
  return (key, value) => {
    const found = values.get(key) ?? value()
    values.set(key, found)
    return found
  }
}

/** A change that remembers something, for each server anew. */
export const stateful = <A>(initial: () => A, change: (state: A) => Change): Change => (s, was) =>
  change(initial())(s, was)
/** Whether this call is the n-th, the 2n-th and so on. */
export const every = (n: number) => {
  let count = 0
  return (): boolean => (count += 1) % n === 0
}
export const tokensOf = (s: Service): ReadonlyArray<Token> => [...s.tokens.values()]

// Token requests.

/** Also accepts these pairs of id and key. */
export const accepts =
  (test: (id: string, key: string, customer: Service["customer"]) => boolean): Change => (s, was) => ({
    knows: (id, key) => was.knows(id, key) || test(id, key, s.customer)
  })
/** Compares the key, or the id, in another way. */
export const key = (test: (found: string, key: string) => boolean): Change => (s) => ({
  keyOk: (found) => test(found, s.customer.key)
})
export const id = (test: (found: string, id: string) => boolean): Change => (s) => ({
  idOk: (found) => test(found, s.customer.id)
})
/** Also accepts these token requests, or grant types. */
export const client = (test: (q: Incoming, s: Service) => boolean): Change => (s, was) => ({
  clientOk: (q) => was.clientOk(q) || test(q, s)
})
export const grant = (test: (q: Incoming, s: Service) => boolean): Change => (s, was) => ({
  grantOk: (q) => was.grantOk(q) || test(q, s)
})
export const grantType = (test: (value: string) => boolean): Change => (_s, was) => ({
  grantIs: (value) => was.grantIs(value) || test(value)
})
/** Reads the credentials also elsewhere. */
export const credentialsIn =
  (read: (q: Incoming, s: Service) => readonly [string, string] | undefined): Change => (s, was) => ({
    basic: (q) => was.basic(q) ?? read(q, s)
  })
/** Does this with each new token. */
export const onIssue = (then: (token: Token, q: Incoming, s: Service) => void): Change => (s, was) => ({
  issue: (q) => {
    const token = was.issue(q)
    then(token, q, s)
    return token
  }
})
/** Does this before each new token. */
export const beforeIssue = (then: (q: Incoming, s: Service) => void): Change => (s, was) => ({
  issue: (q) => {
    then(q, s)
    return was.issue(q)
  }
})
/** Begins the hour of the live tokens again. */
export const renewAll = (q: Incoming, s: Service): void => {
  for (const token of tokensOf(s)) if (s.alive(token, q.at, q)) token.at = q.at
}
/** Once credentials were right on a connection, accepts any there. */
export const loggedIn: Change = (_s, was) => {
  const connections = new Set<number>()
  return {
    clientOk: (q) => {
      if (!connections.has(q.connection) && was.clientOk(q)) connections.add(q.connection)
      return connections.has(q.connection)
    }
  }
}
/** Stores a new token only later, as `store` says when it is created. */
export const storesLate =
  (milliseconds: number, store: (token: Token, s: Service) => () => void): Change => (s, was) => {
    let pending: Array<() => void> = []
    return {
      issue: (q) => {
        const token = { value: s.mint(q), at: q.at, uses: 0, last: q.at, request: q }
        pending.push(store(token, s))
        return token
      },
      token: (q) =>
        Effect.gen(function*() {
          const reply = yield* was.token(q)
          const own = pending
          pending = []
          if (own.length > 0) yield* Effect.sleep(milliseconds)
          for (const store of own) store()
          return reply
        })
    }
  }
/** Does this after a refused token request, or a refused check with a good token. */
export const onRefusal = (reasons: RegExp, then: (q: Incoming, s: Service) => void): Change => (s, was) => ({
  refuse: (reason, q) => {
    if (reasons.test(reason)) then(q, s)
    return was.refuse(reason, q)
  }
})
/** Adds fields to the body of a refusal. */
export const inRefusal =
  (reasons: RegExp, fields: (q: Incoming, s: Service) => JsonObject | undefined): Change => (s, was) => ({
    refuse: (reason, q) => {
      const reply = was.refuse(reason, q)
      if (reply === "cut" || typeof reply.body === "string" || Buffer.isBuffer(reply.body)) return reply
      return reasons.test(reason) ? { ...reply, body: { ...reply.body, ...fields(q, s) } } : reply
    }
  })

// Tokens.

export const header = ({ headers }: Incoming, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
/** What a check without a token has. */
export const guest = (q: Incoming): Token => ({ value: "", at: q.at, uses: 0, last: q.at, request: q })
/** Lets these requests in without a good token. */
export const open = (test: (q: Incoming, s: Service) => boolean): Change => (s, was) => ({
  session: (q) => was.session(q) ?? (test(q, s) ? guest(q) : undefined)
})
/** Reads the token also elsewhere. */
export const tokenIn = (read: (q: Incoming, s: Service) => string | undefined): Change => (s, was) => ({
  bearer: (q) => was.bearer(q) ?? read(q, s)
})
/** Finds an issued token also in another way. */
export const finds = (test: (found: string, issued: string) => boolean): Change => (s, was) => ({
  find: (value) => was.find(value) ?? tokensOf(s).find((token) => test(value, token.value))
})
/** Decides in another way whether a token is valid. */
export const valid = (test: (token: Token, at: number, s: Service, q: Incoming) => boolean): Change => (s) => ({
  alive: (token, at, q) => test(token, at, s, q)
})
export const lives = (milliseconds: number): Change => valid((token, at) => at - token.at < milliseconds)
/** Accepts a valid token only under this condition. */
export const onlyIf = (test: (token: Token, q: Incoming, s: Service) => boolean): Change => (s, was) => ({
  alive: (token, at, q) => was.alive(token, at, q) && test(token, q, s)
})

/** Replaces the token of a check, or lets a check in without one. */
export const session =
  (change: (token: Token | undefined, q: Incoming, s: Service) => Token | undefined): Change => (s, was) => ({
    session: (q) => change(was.session(q), q, s)
  })
/** Accepts a token only on the connection that used it first. */
export const onOneConnection: Change = stateful(
  () => memory<Token, number>(),
  (first) =>
    session((token, q) => token !== undefined && first(token, () => q.connection) === q.connection ? token : undefined)
)
/** Counts the hour from the first use. */
export const fromFirstUse: Change = stateful(
  () => memory<Token, number>(),
  (first) => valid((token, at) => at - first(token, () => at) < HOUR)
)
/** Refuses an expired token once, which begins its hour again. */
export const renewedByRefusal = valid((token, at) => {
  const ok = at - token.at < HOUR
  if (!ok) token.at = at
  return ok
})
/** Replaces the token in a token response. */
export const tokenValue =
  (change: (value: string, token: Token, q: Incoming, s: Service) => Json): Change => (s, was) => ({
    tokenBody: (value, token, q) => ({
      ...was.tokenBody(value, token, q),
      access_token: change(value, token, q, s)
    })
  })
/** A token request ends, keeps or renews the tokens before it. */
export const endsOthers = beforeIssue((_q, s) => s.tokens.clear())
export const keepsThree = onIssue((_token, _q, s) => {
  for (const { value } of tokensOf(s).slice(0, -3)) s.tokens.delete(value)
})
export const renewsOthers = beforeIssue(renewAll)
export const issuedAgain: Change = (s, was) => ({
  issue: (q) => tokensOf(s).find((token) => s.alive(token, q.at, q)) ?? was.issue(q)
})

// Checks.

type Field = "entity_type" | "name" | "dob"
const stepOf = (field: Field, test: FieldTest) =>
  field === "name" ? { nameOk: test } : field === "dob" ? { dobOk: test } : { entityOk: test }
const testOf = (field: Field, s: Service): FieldTest =>
  field === "name" ? s.nameOk : field === "dob" ? s.dobOk : s.entityOk
/** Also accepts these values. */
export const also = (field: Field, test: FieldTest): Change => (_s, was) =>
  stepOf(field, (value, q) => testOf(field, was)(value, q) || test(value, q))
/** Refuses these values. */
export const refuses = (field: Field, test: (value: string, q: Incoming) => boolean): Change => (_s, was) =>
  stepOf(field, (value, q) => testOf(field, was)(value, q) && !test(String(value), q))
/** Also accepts texts of this form. */
export const alsoForm = (field: Field, form: RegExp): Change =>
  also(field, (value) => typeof value === "string" && form.test(value))
/** Reads the body in another way. */
export const reads = (read: (found: Json, q: Incoming, s: Service) => Json): Change => (s, was) => ({
  parse: (q) => read(was.parse(q), q, s)
})

// Responses.

/** Another value of a field of the credential or of the attributes. */
export const field = (name: string, value: (found: string, check: Check, s: Service) => Json): Change => (s, was) => ({
  attributes: (check) => {
    const found = was.attributes(check)
    return name in found ? { ...found, [name]: value(String(found[name]), check, s) } : found
  },
  credential: (attributes, check) => {
    const found = was.credential(attributes, check)
    return name in found ? { ...found, [name]: value(String(found[name]), check, s) } : found
  }
})
export const sets = (name: string, value: Json): Change => field(name, () => value)
/** Another value for a check whose key was there before, or not. */
export const again = (
  name: string,
  keyOf: (check: Check) => string,
  value: (found: string, isKnown: boolean) => Json
) =>
  stateful(() => new Set<string>(), (seen) =>
    field(name, (found, check) => {
      const isKnown = seen.has(keyOf(check))
      seen.add(keyOf(check))
      return value(found, isKnown)
    }))
/** The same, for a listed person or for another one only. */
export const ifListed = (name: string, value: (found: string) => Json): Change =>
  field(name, (found, { match }) => match ? value(found) : found)
export const ifNotListed = (name: string, value: (found: string) => Json): Change =>
  field(name, (found, { match }) => match ? found : value(found))
/** Other values of `match_found`. */
export const verdict = (listed: Json, other: Json): Change =>
  field("match_found", (_found, { match }) => match ? listed : other)
/** Another credential with these attributes. */
export const credential =
  (change: (found: JsonObject, attributes: JsonObject, check: Check) => JsonObject): Change => (_s, was) => ({
    credential: (attributes, check) => change(was.credential(attributes, check), attributes, check)
  })
/** Another text of the credential. */
export const encoded = (change: (text: Buffer, check: Check) => string | Buffer): Change => (_s, was) => ({
  answer: (check) => change(Buffer.from(was.answer(check)), check)
})
/** Keeps the attributes of the first check with the same key. */
export const cached =
  (keyOf: (check: Check) => string, milliseconds: number, names?: ReadonlyArray<string>): Change => (_s, was) => {
    const kept = new Map<string, readonly [at: number, attributes: JsonObject]>()
    return {
      attributes: (check) => {
        const [at = 0, old] = kept.get(keyOf(check)) ?? []
        if (old !== undefined && check.request.at - at < milliseconds) {
          if (names === undefined) return old
          const same = Object.entries(old).filter(([name]) => names.includes(name))
          return { ...was.attributes(check), ...Object.fromEntries(same) }
        }
        const attributes = was.attributes(check)
        kept.set(keyOf(check), [check.request.at, attributes])
        return attributes
      }
    }
  }
/** Lets other requests arrive during the search. */
export const slowly = (milliseconds: number, then: (check: Check) => void): Change => () => ({
  lists: (check) => Effect.zipRight(Effect.sync(() => then(check)), Effect.sleep(milliseconds))
})

/** Checks at the same time with the same key share the response of the first one. */
export const joined = (keyOf: (check: Check) => string, milliseconds: number): Change => (_s, was) => {
  const running = new Map<string, Effect.Effect<Reply>>()
  return {
    search: (check) =>
      Effect.gen(function*() {
        const key = keyOf(check)
        const shared = running.get(key) ?? (yield* Effect.cached(
          Effect.zipRight(Effect.sleep(milliseconds), was.search(check)).pipe(
            Effect.tap(() => Effect.sync(() => running.delete(key)))
          )
        ))
        running.set(key, shared)
        return yield* shared
      })
  }
}

/** Another decision about who is on a list. */
export const decides =
  (test: (found: boolean, check: Omit<Check, "match">, s: Service) => boolean): Change => (s, was) => ({
    matches: (check) => test(was.matches(check), check, s)
  })

/** Several changes. */
export const all = (...changes: ReadonlyArray<Change>): Change => (s, was) =>
  changes.reduce((steps, change) => ({ ...steps, ...change(s, { ...was, ...steps }) }), {})

/** The year of the ISO week of a time. */
export const weekYear = (at: number): string => {
  const date = new Date(at)
  date.setUTCDate(date.getUTCDate() + 4 - (date.getUTCDay() || 7))
  return String(date.getUTCFullYear())
}
export const midnight = (dob: string): number => Date.UTC(+dob.slice(6), +dob.slice(3, 5) - 1, +dob.slice(0, 2))
