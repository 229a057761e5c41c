/** Parses `Retry-After` (RFC 9110, section 10.2.3). */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** RFC 9111 treats a larger number as 2^31 seconds. A finite duration can be added, compared and encoded. */
const maxMillis = 2 ** 31 * 1000

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const month = `(?<month>${months.join("|")})`

/** The 60th second is a leap second. */
const time = "(?<time>(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60))"

/** The three formats of an HTTP date. The weekday is not compared with the date. */
const forms = [
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`
].map((form) => new RegExp(`^${form}$`))

/**
 * Returns the wait that a `Retry-After` header asks for, in seconds or as an HTTP date: zero for a time in the past,
 * and 2^31 seconds at most. Any other header, or a date that does not exist, counts as no header.
 */
export const parse = (header: string | undefined): Effect.Effect<Duration.Duration | undefined> => {
  if (header === undefined) return Effect.succeed(undefined)
  if (/^-?\d+$/.test(header)) return Effect.succeed(toCappedDuration(Number(header) * 1000))
  return Effect.map(Clock.currentTimeMillis, (now) => {
    const at = parseDate(header, now)
    return at === undefined ? undefined : toCappedDuration(at - now)
  })
}

/** A negative number of milliseconds is a duration of zero. */
const toCappedDuration = (millis: number): Duration.Duration => Duration.millis(Math.min(millis, maxMillis))

/** The timestamp of an HTTP date in milliseconds, or `undefined` if the date does not exist. */
const parseDate = (text: string, now: number): number | undefined => {
  const parts = forms.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return undefined
  const { day = "", month = "", time = "", year = "" } = parts
  const [hour, minute, second] = time.split(":").map(Number)
  const midnight = (year: number) => Date.UTC(year, months.indexOf(month), Number(day))
  const timestamp = (year: number) => new Date(midnight(year)).setUTCHours(hour ?? 0, minute, second)
  const fullYear = year.length === 4 ? Number(year) : latestYear(Number(year), timestamp, now)
  // `Date` turns 31 February into 3 March.
  return new Date(midnight(fullYear)).getUTCDate() === Number(day) ? timestamp(fullYear) : undefined
}

/** The latest year with these last two digits whose date is at most 50 years in the future. */
const latestYear = (lastDigits: number, timestamp: (year: number) => number, now: number): number => {
  const today = new Date(now)
  const limit = new Date(now).setUTCFullYear(today.getUTCFullYear() + 50)
  let year = Math.floor(today.getUTCFullYear() / 100) * 100 + 100 + lastDigits
  while (timestamp(year) > limit) year -= 100
  return year
}
