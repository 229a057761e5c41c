/** All readings, by name. */
import type { StepExchange } from "../exchange.ts"
import type { Reading } from "../model.ts"
import * as CredentialReadings from "./credentialReadings.ts"
import * as ResponseReadings from "./responseReadings.ts"
import * as TokenReadings from "./tokenReadings.ts"

const readings: Readonly<Record<Reading, ResponseReadings.Read>> = {
  ...ResponseReadings.readings,
  ...TokenReadings.readings,
  ...CredentialReadings.readings
}

const responseOf = ({ exchange, secrets, step }: StepExchange): ReadonlyArray<ResponseReadings.StepResponse> =>
  exchange._tag === "Response" ? [{ step, response: exchange, secrets }] : []

/** The observed word. If an exchange has no complete response, the reason is the word. */
export const read = (reading: Reading, exchanges: ReadonlyArray<StepExchange>): string => {
  const [noResponse] = exchanges.flatMap(({ exchange }) => exchange._tag === "NoResponse" ? [exchange] : [])
  return noResponse?.reason ?? readings[reading](exchanges.flatMap(responseOf))
}
