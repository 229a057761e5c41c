/** All readings, by name. */
import * as Record from "effect/Record"
import * as Struct from "effect/Struct"
import type { StepExchange } from "../exchange.ts"
import * as CredentialReadings from "./credentialReadings.ts"
import { echo } from "./echo.ts"
import * as ResponseReadings from "./responseReadings.ts"
import * as TokenReadings from "./tokenReadings.ts"
import * as WholeReadings from "./wholeReadings.ts"
import * as Withheld from "./withheld.ts"

type ReadExchanges = (exchanges: ReadonlyArray<StepExchange>) => string

const responsesOf = (exchanges: ReadonlyArray<StepExchange>): ReadonlyArray<ResponseReadings.StepResponse> =>
  exchanges.flatMap(({ exchange, person, secrets, step }) =>
    exchange._tag === "Response" ? [{ step, person, response: exchange, secrets }] : []
  )

/** Reads the responses. If an exchange has no complete response, the observation is the reason. */
const ofComplete = (read: ResponseReadings.Read): ReadExchanges => (exchanges) => {
  const [noResponse] = exchanges.flatMap(({ exchange }) => exchange._tag === "NoResponse" ? [exchange] : [])
  return noResponse?.reason ?? read(responsesOf(exchanges))
}

/** Reads those responses that are complete. */
const ofWhole = (read: ResponseReadings.Read): ReadExchanges => (exchanges) => read(responsesOf(exchanges))

const readings = {
  ...Record.map(ResponseReadings.readings, ofComplete),
  ...Record.map(TokenReadings.readings, ofComplete),
  ...Record.map(TokenReadings.ofApi, ofComplete),
  ...Record.map(CredentialReadings.readings, ofComplete),
  ...Record.map(CredentialReadings.ofCases, ofComplete),
  "echo": ofComplete(ResponseReadings.ofLast(({ response, secrets }) => echo(response, secrets))),
  ...Record.map(WholeReadings.ofWhole, ofWhole),
  // A closed connection also withholds a token.
  ...Withheld.readings
}

/**
 * What a case reads from the responses to its steps. Each reading yields one word of a closed set, such as
 * `200` or `refused`, so that no observation holds a secret, a name or a date.
 *
 * @category models
 * @since 0.1.0
 */
export type Reading = keyof typeof readings

const ofAll: ReadonlyArray<Reading> = [
  ...Struct.keys(WholeReadings.ofWhole),
  ...["every answer", "every grant", "lifetime", "promised result", "repeated check"] as const
]

/** Whether a reading compares or reads all responses of a case, and not only the last one. */
export const readsAll = (reading: Reading): boolean => ofAll.includes(reading)

/** Returns the observation. */
export const read = (reading: Reading, exchanges: ReadonlyArray<StepExchange>): string => readings[reading](exchanges)

/**
 * The words that probes usually yield, by reading. A case with several probes observes the first other word, and reads
 * them all for it.
 */
export const usualWords: Partial<Record<Reading, string>> = {
  "token withheld": "refused",
  "credential withheld": "refused",
  "token outcome": "granted",
  "check outcome": "answered",
  "every grant": "granted",
  "every answer": "answered",
  "every field": "valid",
  "every match": "some",
  "every name echo": "exact",
  "promised result": "as promised",
  "own profile": "own",
  "stable profile": "the same",
  "repeated check": "same",
  "same result": "same",
  "same issuer": "same",
  "time of search": "of the search",
  "lifetime": "one hour",
  "attributes": "object",
  "name echo": "exact",
  "body": "object",
  ...Object.fromEntries(
    Object.values(CredentialReadings.correctFields).flatMap(([reading, word, ...others]) =>
      others.length > 0 ? [] : [[reading, word]]
    )
  )
}
