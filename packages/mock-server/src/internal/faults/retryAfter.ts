/** The header `Retry-After` in each of its forms. */
import * as Duration from "effect/Duration"
import type { Profile } from "../../Profile.ts"
import type { Headers } from "../wire/response.ts"
import type { RetryAfter } from "./values.ts"

/** Returns the header. `now` is the session's time in milliseconds since 1970. */
export const headers = (form: RetryAfter | undefined, now: number): Headers =>
  form === undefined ? {} : { "retry-after": value(form, now) }

const value = (form: RetryAfter, now: number): string => {
  switch (form.kind) {
    case "seconds":
      return String(form.seconds)
    case "date":
      // An HTTP date has no milliseconds. It is rounded up, so that a client that waits until then is not too early.
      return new Date(Math.ceil((now + Duration.toMillis(form.in)) / 1000) * 1000).toUTCString()
    case "garbage":
      return form.text
  }
}

/** Returns the form that a profile selects, for a wait of `retryIn`. */
export const ofProfile = ({ rateLimit }: Profile, retryIn: Duration.Duration): RetryAfter | undefined => {
  switch (rateLimit) {
    case "seconds":
      return { kind: "seconds", seconds: Math.ceil(Duration.toSeconds(retryIn)) }
    case "date":
      return { kind: "date", in: retryIn }
    case "none":
      return undefined
    case "garbage":
      return { kind: "garbage", text: "soon" }
  }
}
