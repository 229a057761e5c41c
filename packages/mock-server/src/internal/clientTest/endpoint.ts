/** A client that is a running backend: one HTTP request for each person. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import type * as Day from "./day.ts"
import { endedAfter, NotDriven } from "./firstRun.ts"
import * as Placeholders from "./placeholders.ts"
import type { Door } from "./run.ts"

export interface Options {
  /** The address, with placeholders. */
  readonly url: string
  /** Headers, with placeholders in their values. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** The body, with placeholders: JSON, or a form. */
  readonly body: string
  readonly port: number
  readonly customer: Pick<Day.Service, "customerId" | "customerKey">
  readonly outcomeOf: (text: string, code: number | undefined) => Day.Outcome
}

/** Headers that differ between any two responses. */
const changing = ["date", "connection", "keep-alive"]

/** The errors of a connection that existed. */
const broken = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]

/** A header cannot contain other characters. */
const headerText = (value: string) => value.replaceAll(/[^\x20-\x7e]+/g, encodeURIComponent)

/** Whether a body looks like JSON, and not like a form. */
export const isJsonBody = (body: string): boolean => /^\s*[[{"]/.test(body)

const jsonText = (value: string) => JSON.stringify(value).slice(1, -1)

export const door = (
  { body, customer, headers, outcomeOf, port, url }: Options
): Effect.Effect<Door, never, HttpClient.HttpClient> =>
  Effect.zipWith(HttpClient.HttpClient, Ref.make(false), (client, hasResponded) => ({
    isProcess: false,
    isEndpoint: true,
    isOperated: false,
    customer,
    port,
    open: (service) => (person, { patience }) => {
      const isJson = isJsonBody(body)
      const fill = Placeholders.fill(service, person, isJson ? jsonText : encodeURIComponent)
      const request = HttpClientRequest.post(Placeholders.fill(service, person, encodeURIComponent)(url)).pipe(
        HttpClientRequest.bodyText(fill(body), isJson ? "application/json" : "application/x-www-form-urlencoded"),
        HttpClientRequest.setHeaders(
          headers.map(([name, value]) => [name, Placeholders.fill(service, person, headerText)(value)] as const)
        )
      )
      return client.execute(request).pipe(
        Effect.tap(() => Ref.set(hasResponded, true)),
        Effect.flatMap((response) =>
          Effect.map(response.text, (text): Day.Reaction => {
            const head = Object.entries(response.headers).filter(([name]) => !changing.includes(name))
            return {
              outcome: outcomeOf(text, response.status),
              texts: [{ where: "response", text: `${head.map((header) => header.join(": ")).join("\n")}\n\n${text}` }],
              code: response.status,
              ended: true
            }
          })
        ),
        // A backend that ran before may have crashed on this check.
        Effect.catchAll(({ cause }) =>
          Effect.if(Ref.get(hasResponded), {
            onTrue: () => Effect.succeed<Day.Reaction>({ outcome: "error", texts: [], ended: true }),
            onFalse: () =>
              new NotDriven({
                text: Predicate.hasProperty(cause, "code") && broken.some((code) => code === cause.code)
                  ? "The backend closed the connection at --url without a response: see its log, and --body"
                  : "Nothing responds at --url: start the backend before the test",
                explanation: ""
              })
          })
        ),
        endedAfter(patience)
      )
    }
  }))
