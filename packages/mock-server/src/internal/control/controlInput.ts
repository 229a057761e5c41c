/** Validates and encodes what a user passes to the control API, before a request is sent. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ClockChange, ControlRefused, NewSession } from "../../ControlApi.ts"
import * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as Verification from "../../Verification.ts"
import * as KnownFields from "../schema/knownFields.ts"

/**
 * Returns a function that decodes as the server does. It runs before the request is sent, because the client of an
 * `HttpApi` repeats values in its errors.
 */
const makeDecode = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = KnownFields.decodeUnknown(schema)
  return (input: unknown): Either.Either<A, ControlRefused> =>
    Either.mapLeft(decode(input), (violations) => new ControlRefused({ violations }))
}

export const decodeFault = makeDecode(Fault.Fault)
export const decodeExpectation = makeDecode(Verification.Expectation)
export const decodeTestPersons = makeDecode(TestPerson.CustomList)
export const decodePatch = makeDecode(Profile.Patch)
export const decodeClockChange = makeDecode(ClockChange)
export const decodeNewSession = makeDecode(Schema.typeSchema(NewSession))

/**
 * The JSON form of a duration. `ClockChange` validates it, because `Duration` itself turns a negative number into 0.
 */
export const durationJson = (duration: Duration.DurationInput): unknown =>
  typeof duration === "bigint"
    ? Number(duration) / 1_000_000
    : typeof duration === "object"
    ? Duration.toMillis(duration)
    : duration

export const timeJson = (time: DateTime.DateTime.Input): unknown =>
  typeof time === "string" ? time : Option.getOrUndefined(Option.map(DateTime.make(time), DateTime.formatIso))

/**
 * Whether an id can be a segment of a URL path. An empty id, `.`, `..` and half a surrogate pair cannot, and nothing
 * has such an id.
 */
export const isPathSegment = (id: string): boolean =>
  !/^\.{0,2}$/.test(id) && Either.isRight(Encoding.encodeUriComponent(id))
