import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

const imfDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * How long a `Retry-After` header asks to wait (RFC 9110 10.2.3): seconds or an HTTP date. What is
 * past is zero; what is neither is as good as no header.
 */
export const parse = (header: string | undefined): Effect.Effect<Duration.Duration | undefined> => {
  if (header === undefined) return Effect.succeed(undefined)
  if (/^-?\d{1,10}$/.test(header)) return Effect.succeed(Duration.seconds(Number(header)))
  // 31 February would be read as 3 March.
  const isDate = imfDate.test(header) && new Date(header).toUTCString().slice(5, 16) === header.slice(5, 16)
  if (!isDate) return Effect.succeed(undefined)
  return Effect.map(Clock.currentTimeMillis, (now) => Duration.millis(Date.parse(header) - now))
}
