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

const responseOf = ({ exchange, secrets, step }: StepExchange): ReadonlyArray<ResponseReadings.StepResponse> =>
  exchange._tag === "Response" ? [{ step, response: exchange, secrets }] : []

/**
 * The observed word. If an exchange has no complete response, the reason is the word, unless the reading asks for
 * what was withheld, because a closed connection withholds a token as well as any status, or for what all responses
 * have in common.
 */
export const read = (reading: Reading, exchanges: ReadonlyArray<StepExchange>): string => {
  if (Withheld.isName(reading)) return Withheld.readings[reading](exchanges)
  if (WholeReadings.isName(reading)) return WholeReadings.readings[reading](exchanges.flatMap(responseOf))
  const [noResponse] = exchanges.flatMap(({ exchange }) => exchange._tag === "NoResponse" ? [exchange] : [])
  return noResponse?.reason ?? readings[reading](exchanges.flatMap(responseOf))
}
