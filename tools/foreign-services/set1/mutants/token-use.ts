import { area } from "../define.ts"
import { minute, works } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { basic, defaultPerson, listedPerson, tokenIn, tokenRequest } from "../requests.ts"
import type { Client, Context, Hooks, Incoming, Probe, TokenRecord } from "../types.ts"

const use = area("token use")

/** Adds a condition to the validity of a token. */
const onlyIf =
  (test: (record: TokenRecord, request: Incoming, context: Context) => boolean) => (base: Hooks): Partial<Hooks> => ({
    alive: (record, request, context) => base.alive(record, request, context) && test(record, request, context)
  })

/** Passes if a token works after the given action. */
const worksAfterAction = (action: (client: Client, token: string) => Promise<unknown>): Probe => async (client) => {
  const token = await client.token()
  await action(client, token)
  return works(client, token)
}

const usedFor = (count: number): Probe =>
  worksAfterAction(async (client, token) => {
    for (let sent = 0; sent < count; sent += 1) await client.check(token)
  })

const failedLogin = (client: Client): Promise<unknown> => client.send(tokenRequest(basic(`${client.id}:not-the-key`)))

const bodyName = (request: Incoming): string => /"name":"([^"]*)"/.exec(request.body)?.[1] ?? ""

const allWork: Probe = async (client) => {
  const tokens = await Promise.all([client.token(), client.token(), client.token()])
  const results = await Promise.all(tokens.map((token) => works(client, token)))
  return results.every(Boolean)
}

export const tokenUseMutants = [
  use("use-once", quotes.validity, "A token is valid for one check.", onlyIf((record) => record.uses < 1), usedFor(1)),
  use(
    "use-five-times",
    quotes.validity,
    "A token is valid for five checks.",
    onlyIf((record) => record.uses < 5),
    usedFor(5)
  ),
  use(
    "use-second-refused",
    quotes.validity,
    "The second use of a token is refused; later uses are accepted.",
    (base) => {
      const seen = new Map<TokenRecord, number>()
      return {
        alive: (record, request, context) => {
          const count = (seen.get(record) ?? 0) + 1
          seen.set(record, count)
          return count !== 2 && base.alive(record, request, context)
        }
      }
    },
    usedFor(1)
  ),
  use(
    "use-revoked-by-new-token",
    quotes.validity,
    "A new token request revokes the older token.",
    onlyIf((record, _request, context) => [...context.tokens.values()].at(-1) === record),
    worksAfterAction((client) => client.token())
  ),
  use(
    "use-three-tokens",
    quotes.validity,
    "Only the last three tokens of a customer are valid.",
    onlyIf((record, _request, context) => [...context.tokens.values()].slice(-3).includes(record)),
    worksAfterAction(async (client) => {
      for (let count = 0; count < 3; count += 1) await client.token()
    })
  ),
  use(
    "use-revoked-by-wrong-key",
    quotes.validity,
    "A token request with a wrong key revokes all tokens.",
    () => ({ tokenRefused: (_request, context) => context.tokens.clear() }),
    worksAfterAction(failedLogin)
  ),
  use(
    "use-revoked-by-wrong-grant",
    quotes.validity,
    "A token request with a wrong grant type revokes all tokens.",
    () => ({
      tokenRefused: (request, context) => {
        if (request.body.includes("password")) context.tokens.clear()
      }
    }),
    worksAfterAction((client) =>
      client.send({ ...tokenRequest(basic(`${client.id}:${client.key}`)), body: "grant_type=password" })
    )
  ),
  use(
    "use-revoked-by-wrong-date",
    quotes.validity,
    "A check with a date that is not allowed revokes the token.",
    () => ({
      checkRefused: (record, _request, context) => {
        if (record !== undefined) context.tokens.delete(record.value)
      }
    }),
    worksAfterAction((client, token) => client.check(token, { ...defaultPerson, dob: "1980-06-15" }))
  ),
  use("use-revoked-by-unknown-token", quotes.validity, "A check with an unknown token revokes all tokens.", (base) => ({
    find: (token, request, context) => {
      const record = base.find(token, request, context)
      if (token !== undefined && record === undefined) context.tokens.clear()
      return record
    }
  }), worksAfterAction((client) => client.check("unknown-token"))),
  use("use-revoked-by-match", quotes.validity, "A check with a potential match revokes the token.", (base) => ({
    matches: (check) => {
      const match = base.matches(check)
      if (match && check.record !== undefined) check.context.tokens.delete(check.record.value)
      return match
    }
  }), worksAfterAction((client, token) => client.check(token, listedPerson))),
  use("use-one-person", quotes.stepTwo, "A token is valid only for the first name that it searches.", (base) => {
    const names = new Map<TokenRecord, string>()
    return {
      alive: (record, request, context) => {
        const name = names.get(record) ?? bodyName(request)
        names.set(record, name)
        return name === bodyName(request) && base.alive(record, request, context)
      }
    }
  }, worksAfterAction((client, token) => client.check(token, { ...defaultPerson, name: "Omar Silva" }))),
  use(
    "use-one-connection",
    quotes.stepTwo,
    "A token is valid only on the connection that makes the first check.",
    (base) => {
      const connections = new Map<TokenRecord, number>()
      return {
        alive: (record, request, context) => {
          const connection = connections.get(record) ?? request.connection
          connections.set(record, connection)
          return connection === request.connection && base.alive(record, request, context)
        }
      }
    },
    worksAfterAction((client, token) => client.check(token))
  ),
  use(
    "use-not-on-token-connection",
    quotes.stepTwo,
    "A token is refused on the connection that requested it.",
    onlyIf((record, request) => record.request.connection !== request.connection),
    (client) => client.oneConnection(async (kept) => works(kept, await kept.token()))
  ),
  use(
    "use-user-agent",
    quotes.stepTwo,
    "A token is valid only with the User-Agent header of its token request.",
    onlyIf((record, request) => record.request.headers["user-agent"] === request.headers["user-agent"]),
    async (client) => {
      const request = tokenRequest(basic(`${client.id}:${client.key}`))
      const token = tokenIn(
        await client.send({ ...request, headers: { ...request.headers, "User-Agent": "first/1.0" } })
      )
      return token !== undefined && works(client, token)
    }
  ),
  use(
    "use-not-yet-valid",
    quotes.validity,
    "A token is valid only two seconds after its request.",
    onlyIf((record, request) => request.at - record.requestedAt >= 2000),
    worksAfterAction(() => Promise.resolve())
  ),
  use("use-idle", quotes.validity, "A token that is not used for ten minutes expires.", (base) => {
    const last = new Map<TokenRecord, number>()
    return {
      alive: (record, request, context) => {
        const valid = base.alive(record, request, context) &&
          request.at - (last.get(record) ?? record.requestedAt) < 10 * minute
        if (valid) last.set(record, request.at)
        return valid
      }
    }
  }, async (client) => {
    const token = await client.token()
    client.advance(20 * minute)
    return works(client, token)
  }),
  use(
    "use-concurrent-requests",
    quotes.validity,
    "Of token requests within 50 ms, only the last token is valid.",
    onlyIf((record, _request, context) =>
      [...context.tokens.values()].filter((issued) => Math.abs(issued.request.at - record.request.at) < 50).at(-1) ===
        record
    ),
    allWork
  ),
  use(
    "use-response-without-token",
    quotes.tokenResponse,
    "The second token response carries no access token.",
    (base) => {
      let count = 0
      return {
        tokenResponse: (record, context) => {
          count += 1
          return count === 2 ? { token_type: "Bearer" } : base.tokenResponse(record, context)
        }
      }
    },
    async (client) => {
      await client.token()
      return tokenIn(await client.send(tokenRequest(basic(`${client.id}:${client.key}`)))) !== undefined
    }
  ),
  use(
    "use-response-truncated-token",
    quotes.stepTwo,
    "The token response carries the token without its last character.",
    (base) => ({
      tokenResponse: (record, context) => base.tokenResponse({ ...record, value: record.value.slice(0, -1) }, context)
    }),
    worksAfterAction(() => Promise.resolve())
  ),
  use(
    "use-response-with-scheme",
    quotes.stepTwo,
    "The token in the response starts with Bearer, so that the documented header is refused.",
    (base) => ({
      tokenResponse: (record, context) => base.tokenResponse({ ...record, value: `Bearer ${record.value}` }, context)
    }),
    worksAfterAction(() => Promise.resolve())
  ),
  use(
    "use-response-unissued-token",
    quotes.stepTwo,
    "Each second token response carries a token that the check refuses.",
    (base) => {
      let count = 0
      return {
        tokenResponse: (record, context) => {
          count += 1
          const value = count % 2 === 0 ? [...record.value].reverse().join("") : record.value
          return base.tokenResponse({ ...record, value }, context)
        }
      }
    },
    async (client) => {
      await client.token()
      return works(client, await client.token())
    }
  ),
  use(
    "use-after-failed-login",
    quotes.validity,
    "A token is refused if the token request before it had a wrong key.",
    (base) => {
      let failed = false
      return {
        tokenRefused: () => {
          failed = true
        },
        issue: (request, context) => {
          const record = base.issue(request, context)
          if (failed) context.tokens.delete(record.value)
          failed = false
          return record
        }
      }
    },
    async (client) => {
      await failedLogin(client)
      return works(client, await client.token())
    }
  )
]
