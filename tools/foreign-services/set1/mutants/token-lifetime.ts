import { area } from "../define.ts"
import { hour } from "../hooks.ts"
import { hasCredential, minute, refusedAfter, second, works, worksAfter } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { basic, defaultPerson, listedPerson, tokenIn, tokenRequest } from "../requests.ts"
import type { Context, Hooks, Incoming, TokenRecord } from "../types.ts"

const lifetime = area("token lifetime")

/** Replaces the test of the lifetime. */
const alive = (test: (record: TokenRecord, at: number, context: Context) => boolean) => (): Partial<Hooks> => ({
  alive: (record, request, context) => test(record, request.at, context)
})

const lasts = (milliseconds: number): () => Partial<Hooks> =>
  alive((record, at) => at - record.requestedAt < milliseconds)

const nextHour = (time: number): number => (Math.floor(time / hour) + 1) * hour

export const tokenLifetimeMutants = [
  lifetime("life-unlimited", quotes.validity, "A token never expires.", alive(() => true), refusedAfter(48 * hour)),
  lifetime(
    "life-two-hours",
    quotes.validity,
    "A token is valid for two hours.",
    lasts(2 * hour),
    refusedAfter(hour + 30 * minute)
  ),
  lifetime("life-day", quotes.lifetime, "A token is valid for 24 hours.", lasts(24 * hour), refusedAfter(3 * hour)),
  lifetime(
    "life-grace-five-minutes",
    quotes.validity,
    "An expired token is accepted for five more minutes.",
    lasts(hour + 5 * minute),
    refusedAfter(hour + minute)
  ),
  lifetime(
    "life-grace-thirty-seconds",
    quotes.validity,
    "An expired token is accepted for 30 more seconds.",
    lasts(hour + 30 * second),
    refusedAfter(hour + 10 * second)
  ),
  lifetime(
    "life-half-hour",
    quotes.lifetime,
    "A token is valid for 30 minutes.",
    lasts(hour / 2),
    worksAfter(45 * minute)
  ),
  lifetime(
    "life-59-minutes",
    quotes.validity,
    "A token expires one minute early.",
    lasts(hour - minute),
    worksAfter(hour - 20 * second)
  ),
  lifetime(
    "life-unit",
    quotes.validity,
    "The lifetime of 3600 is read as milliseconds.",
    lasts(3600),
    worksAfter(10 * second)
  ),
  lifetime(
    "life-sixty-seconds",
    quotes.validity,
    "A token is valid for 60 seconds.",
    lasts(minute),
    worksAfter(2 * minute)
  ),
  lifetime("life-sliding", quotes.validity, "Each use extends the lifetime to one hour from the use.", () => ({
    alive: (record, request) => {
      const valid = request.at - record.requestedAt < hour
      if (valid) record.requestedAt = request.at
      return valid
    }
  }), async (client) => {
    const token = await client.token()
    client.advance(40 * minute)
    await client.check(token)
    client.advance(40 * minute)
    return !(await works(client, token))
  }),
  lifetime(
    "life-sliding-near-end",
    quotes.validity,
    "A use in the last five minutes extends the lifetime by ten minutes.",
    () => {
      const extended = new Set<TokenRecord>()
      return {
        alive: (record, request) => {
          const age = request.at - record.requestedAt
          if (age >= hour - 5 * minute && age < hour) extended.add(record)
          return age < hour + (extended.has(record) ? 10 * minute : 0)
        }
      }
    },
    async (client) => {
      const token = await client.token()
      client.advance(hour - 2 * minute)
      await client.check(token)
      client.advance(5 * minute)
      return !(await works(client, token))
    }
  ),
  lifetime(
    "life-revived",
    quotes.validity,
    "The first use after expiry is refused and makes the token valid again.",
    () => ({
      alive: (record, request) => {
        const valid = request.at - record.requestedAt < hour
        if (!valid) record.requestedAt = request.at
        return valid
      }
    }),
    async (client) => {
      const token = await client.token()
      client.advance(2 * hour)
      const uses = [await works(client, token), await works(client, token)]
      return !uses.includes(true)
    }
  ),
  lifetime(
    "life-lazy-removal",
    quotes.validity,
    "The first use after expiry is accepted; only then is the token removed.",
    () => ({
      alive: (record, request, context) => {
        if (request.at - record.requestedAt >= hour) context.tokens.delete(record.value)
        return true
      }
    }),
    refusedAfter(hour + minute)
  ),
  lifetime("life-from-first-use", quotes.validity, "The lifetime counts from the first use.", () => ({
    alive: (record, request) => {
      if (record.uses === 0) record.requestedAt = request.at
      return request.at - record.requestedAt < hour
    }
  }), refusedAfter(hour + minute)),
  lifetime(
    "life-from-service-start",
    quotes.lifetime,
    "The lifetime counts from the start of the service.",
    alive((_record, at, context) => at - context.startedAt < hour),
    async (client) => {
      client.advance(50 * minute)
      const token = await client.token()
      client.advance(20 * minute)
      return works(client, token)
    }
  ),
  lifetime(
    "life-from-first-token",
    quotes.lifetime,
    "The lifetime of each token counts from the first token request of the customer.",
    alive((_record, at, context) => {
      const first = [...context.tokens.values()][0]
      return first !== undefined && at - first.requestedAt < hour
    }),
    async (client) => {
      await client.token()
      client.advance(40 * minute)
      const token = await client.token()
      client.advance(40 * minute)
      return works(client, token)
    }
  ),
  lifetime(
    "life-from-last-token",
    quotes.validity,
    "A new token request extends the older tokens of the customer.",
    alive((_record, at, context) => {
      const last = [...context.tokens.values()].at(-1)
      return last !== undefined && at - last.requestedAt < hour
    }),
    async (client) => {
      const token = await client.token()
      client.advance(40 * minute)
      await client.token()
      client.advance(40 * minute)
      return !(await works(client, token))
    }
  ),
  lifetime(
    "life-clock-hour",
    quotes.validity,
    "A token expires at the next full hour.",
    alive((record, at) => at < nextHour(record.requestedAt)),
    worksAfter(45 * minute)
  ),
  lifetime(
    "life-rounded-up",
    quotes.validity,
    "A token expires at the first full hour after its lifetime of one hour.",
    alive((record, at) => at < nextHour(record.requestedAt + hour)),
    refusedAfter(hour + 20 * minute)
  ),
  lifetime(
    "life-midnight",
    quotes.validity,
    "A token expires at the end of the day.",
    alive((record, at) =>
      at - record.requestedAt < hour && Math.floor(at / (24 * hour)) === Math.floor(record.requestedAt / (24 * hour))
    ),
    async (client) => {
      client.advance(24 * hour - (client.now() % (24 * hour)) - 10 * minute)
      const token = await client.token()
      client.advance(20 * minute)
      return works(client, token)
    }
  ),
  lifetime(
    "life-time-of-day",
    quotes.validity,
    "Only the time of day is compared, so a token is valid again 24 hours later.",
    alive((record, at) => (at - record.requestedAt) % (24 * hour) < hour),
    refusedAfter(24 * hour + 10 * minute)
  ),
  lifetime(
    "life-minutes-only",
    quotes.validity,
    "Only the minutes within the hour are compared, so a token is refused early in the next hour and valid again later.",
    alive((record, at) => new Date(at).getUTCMinutes() >= new Date(record.requestedAt).getUTCMinutes()),
    refusedAfter(hour + 5 * minute)
  ),
  lifetime(
    "life-reissued",
    quotes.lifetime,
    "A repeated token request returns the same token, which keeps its first expiry.",
    (base) => ({
      issue: (request, context) => {
        const record = [...context.tokens.values()].find((issued) => request.at - issued.requestedAt < hour)
        return record ?? base.issue(request, context)
      }
    }),
    async (client) => {
      await client.token()
      client.advance(40 * minute)
      const token = await client.token()
      client.advance(40 * minute)
      return works(client, token)
    }
  ),
  lifetime(
    "life-second-token",
    quotes.validity,
    "Each token after the first one is valid for 24 hours.",
    alive((record, at, context) =>
      at - record.requestedAt < ([...context.tokens.values()][0] === record ? hour : 24 * hour)
    ),
    async (client) => {
      await client.token()
      const token = await client.token()
      client.advance(2 * hour)
      return !(await works(client, token))
    }
  ),
  lifetime(
    "life-requested",
    quotes.validity,
    "The form parameter expires_in of the token request sets the lifetime.",
    alive((record, at) => {
      const seconds = Number(new URLSearchParams(record.request.body).get("expires_in") ?? "3600")
      return at - record.requestedAt < seconds * second
    }),
    async (client) => {
      const request = tokenRequest(basic(`${client.id}:${client.key}`))
      const token = tokenIn(await client.send({ ...request, body: `${request.body}&expires_in=86400` }))
      client.advance(2 * hour)
      return token === undefined || !(await works(client, token))
    }
  ),
  lifetime(
    "life-stale-clock",
    quotes.validity,
    "The clock for the expiry advances only when a token is requested.",
    alive((record, _at, context) => {
      const last = [...context.tokens.values()].at(-1)
      return last !== undefined && last.requestedAt - record.requestedAt < hour
    }),
    refusedAfter(90 * minute)
  ),
  lifetime(
    "life-known-person",
    quotes.validity,
    "An expired token is accepted for a person that it searched before.",
    (base) => {
      const searched = new Set<string>()
      const key = (record: TokenRecord, request: Incoming): string => record.value + request.body
      return {
        matches: (check) => {
          if (check.record !== undefined) searched.add(key(check.record, check.request))
          return base.matches(check)
        },
        alive: (record, request, context) => base.alive(record, request, context) || searched.has(key(record, request))
      }
    },
    async (client) => {
      const token = await client.token()
      await client.check(token)
      client.advance(2 * hour)
      return !(await works(client, token))
    }
  ),
  lifetime(
    "life-keep-alive",
    quotes.validity,
    "The expiry is checked only for the first request of a connection.",
    (base) => {
      const checked = new Set<number>()
      return {
        alive: (record, request, context) => {
          const valid = checked.has(request.connection) || base.alive(record, request, context)
          if (valid) checked.add(request.connection)
          return valid
        }
      }
    },
    (client) =>
      client.oneConnection(async (kept) => {
        const token = await kept.token()
        await kept.check(token)
        client.advance(2 * hour)
        return !(await works(kept, token))
      })
  ),
  lifetime(
    "life-listed-person",
    quotes.validity,
    "An expired token is accepted for a check of a listed person.",
    (base) => ({
      alive: (record, request, context) => base.alive(record, request, context) || /testpep/i.test(request.body)
    }),
    async (client) => {
      const token = await client.token()
      client.advance(2 * hour)
      return !(await works(client, token, listedPerson))
    }
  ),
  lifetime(
    "life-concurrent-uses",
    quotes.validity,
    "An expired token is accepted within 50 ms of its last refused use, so that only the first of several concurrent checks is refused.",
    (base) => {
      const refusedAt = new Map<TokenRecord, number>()
      return {
        alive: (record, request, context) => {
          if (base.alive(record, request, context)) return true
          const first = refusedAt.get(record)
          refusedAt.set(record, request.at)
          return first !== undefined && request.at - first < 50
        }
      }
    },
    async (client) => {
      const token = await client.token()
      client.advance(2 * hour)
      const replies = await Promise.all([1, 2, 3].map(() => client.check(token, defaultPerson)))
      return !replies.some(hasCredential)
    }
  )
]
