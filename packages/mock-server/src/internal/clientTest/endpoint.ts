/** A client that is a running backend: one HTTP request for each person. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import type * as Day from "./day.ts"
import { NotDriven } from "./firstRun.ts"
import * as Placeholders from "./placeholders.ts"
import type { Door } from "./run.ts"

export interface Options {
  /** The address, with placeholders. */
  readonly url: string
  /** The body, with placeholders: JSON, or a form. */
  readonly body: string
  readonly port: number
  readonly customer: Pick<Day.Service, "customerId" | "customerKey">
  readonly outcomeOf: (text: string, code: number | undefined) => Day.Outcome
}

/** Headers that differ between any two responses. */
const changing = ["date", "connection", "keep-alive"]

const jsonText = (value: string) => JSON.stringify(value).slice(1, -1)

export const door = (
  { body, customer, outcomeOf, port, url }: Options
): Effect.Effect<Door, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => ({
    isProcess: false,
    isEndpoint: true,
    customer,
    port,
    open: (service) => (person, { patience }) => {
      const isJson = /^\s*[[{"]/.test(body)
      const fill = Placeholders.fill(service, person, isJson ? jsonText : encodeURIComponent)
      const request = HttpClientRequest.post(Placeholders.fill(service, person, encodeURIComponent)(url)).pipe(
        HttpClientRequest.bodyText(fill(body), isJson ? "application/json" : "application/x-www-form-urlencoded")
      )
      return Effect.flatMap(client.execute(request), (response) =>
        Effect.map(response.text, (text): Day.Reaction => {
          const headers = Object.entries(response.headers).filter(([name]) => !changing.includes(name))
          return {
            outcome: outcomeOf(text, response.status),
            texts: [{ where: "response", text: `${headers.map((header) => header.join(": ")).join("\n")}\n\n${text}` }],
            code: response.status,
            ended: true
          }
        })).pipe(
          Effect.catchTag("RequestError", () =>
            new NotDriven({ text: "Nothing responds at --url: start the backend before the test", explanation: "" })),
          Effect.catchTag("ResponseError", () =>
            Effect.succeed<Day.Reaction>({ outcome: "error", texts: [], ended: true })),
          Effect.timeoutTo({
            duration: patience,
            onSuccess: (reaction): Day.Reaction =>
              reaction,
            onTimeout: (): Day.Reaction => ({ outcome: "error", texts: [], ended: false })
          })
        )
    }
  }))
