/** Explains the last check of a session in sentences, from the journal. */
import * as Effect from "effect/Effect"
import type * as Control from "../../Control.ts"
import type * as Journal from "../../Journal.ts"
import { groups } from "../operations/all.ts"
import type * as Operation from "../operations/operation.ts"

const described = (
  { at, faults, id, request, response, rule, unexpected, why }: Journal.Entry
): string =>
  `exchange ${id} at ${at}: ${request.method} ${request.target} received ` +
  `${response.delivery === "whole" ? `status ${response.status}` : `a broken response (status ${response.status})`}, ` +
  `by the rule ${rule}. ${why}.` +
  (faults.length === 0 ? "" : ` Faults that fired: ${faults.map(({ id, kind }) => `${id} (${kind})`).join(", ")}.`) +
  (unexpected ? " The service document does not allow this request: the client must change it." : "")

/** Explains the last check of a customer, with the last token request if it may be the cause. */
export const explain = (call: Operation.Call<Control.ControlUnavailable>, customerId: string) =>
  Effect.gen(function*() {
    const { entries, none } = yield* call(groups.journal.search, { customerId }, {}).pipe(
      Effect.map(({ entries }) => ({ entries, none: `${customerId} has sent no check.` })),
      Effect.catchTag("SessionUnknown", ({ message }) => Effect.succeed({ entries: [], none: `${message}.` }))
    )
    const { entries: unmatched } = yield* call(groups.journal.unmatched, {}, {})
    const lastOf = (operation: Journal.Operation) => entries.findLast((entry) => entry.operation === operation)
    const check = lastOf("aml")
    const token = lastOf("token")
    const lastUnmatched = unmatched.at(-1)
    return [
      check === undefined ? none : `The last check is ${described(check)}`,
      ...(token === undefined || check !== undefined && token.id < check.id && check.response.status !== 401
        ? []
        : [`The last token request is ${described(token)}`]),
      ...(lastUnmatched === undefined
        ? []
        : [`Requests that belong to no session: ${unmatched.length}. The last one is ${described(lastUnmatched)}`])
    ].join("\n")
  })
