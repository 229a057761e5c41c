/** An exchange as one line of log, as JSON or as text. */
import * as Struct from "effect/Struct"
import type * as Journal from "../../Journal.ts"

/** Leaves out headers and bodies. */
export const json = ({ request, response, ...entry }: Journal.Entry): string =>
  JSON.stringify({
    event: "exchange",
    ...Struct.omit(entry, "sent"),
    request: { method: request.method, target: request.target },
    response: { status: response.status, delivery: response.delivery }
  })

const colors = { green: "\u001b[32m", yellow: "\u001b[33m", red: "\u001b[31m", none: "\u001b[39m" }

const colorOf = (status: number) => status < 400 ? colors.green : status < 500 ? colors.yellow : colors.red

/** `#12 2026-01-31T12:00:00.000Z demo-customer POST /api/aml 200, 3 ms: the name is on no list` */
export const pretty = (isColored: boolean) =>
(
  { at, customerId, id, millis, request, response, unexpected, why }: Journal.Entry
): string => {
  const { status } = response
  const statusText = isColored ? `${colorOf(status)}${status}${colors.none}` : `${status}`
  const line = (text: string) => text.replaceAll(/\p{Cc}/gu, "\ufffd")
  return `#${id} ${at} ${line(customerId ?? "-")} ${line(`${request.method} ${request.target}`)} ${statusText}, ` +
    `${Math.round(millis)} ms${response.delivery === "scripted" ? ", broken" : ""}${
      unexpected ? ", unexpected" : ""
    }: ${line(why)}`
}
