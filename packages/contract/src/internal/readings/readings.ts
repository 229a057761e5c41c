/** All readings, by name. */
import type { StepExchange } from "../exchange.ts"
import type { Reading } from "../model.ts"
import * as CredentialReadings from "./credentialReadings.ts"
import * as ResponseReadings from "./responseReadings.ts"
import * as TokenReadings from "./tokenReadings.ts"
import * as WholeReadings from "./wholeReadings.ts"
import * as Withheld from "./withheld.ts"

const readings: Readonly<Record<Exclude<Reading, Withheld.Name | WholeReadings.Name>, ResponseReadings.Read>> = {
  ...ResponseReadings.readings,
  ...TokenReadings.readings,
  ...CredentialReadings.readings
}

const responseOf = ({ exchange, person, secrets, step }: StepExchange): ReadonlyArray<ResponseReadings.StepResponse> =>
  exchange._tag === "Response" ? [{ step, person, response: exchange, secrets }] : []

/**
 * Returns the observation. If an exchange has no complete response, the observation is the reason, with two exceptions:
 * a reading of what was withheld, because a closed connection also withholds a token, and a reading of all responses.
 */
export const read = (reading: Reading, exchanges: ReadonlyArray<StepExchange>): string => {
  if (Withheld.isName(reading)) return Withheld.readings[reading](exchanges)
  if (WholeReadings.isName(reading)) return WholeReadings.readings[reading](exchanges.flatMap(responseOf))
  const [noResponse] = exchanges.flatMap(({ exchange }) => exchange._tag === "NoResponse" ? [exchange] : [])
  return noResponse?.reason ?? readings[reading](exchanges.flatMap(responseOf))
}
