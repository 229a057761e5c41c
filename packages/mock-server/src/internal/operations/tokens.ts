/** The operations on the tokens of a session. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { closed, optional } from "../schema/fields.ts"
import { ControlRefused, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"

/**
 * How many valid tokens were revoked.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revoked = Schema.Struct({ revoked: Schema.NonNegativeInt })

/**
 * The token to revoke. Without `token`, all tokens of the session are revoked.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revocation = Schema.Struct({
  token: optional(
    Schema.Redacted(Schema.String.annotations(Violation.expecting("a token, as text")))
  )
}).annotations({ ...closed, description: "an object with token, or with nothing" })

/**
 * The state of a token, without its text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TokenInfo = Schema.Struct({
  issuedAt: Schema.DateTimeUtc,
  expiresAt: Schema.DateTimeUtc,
  status: Schema.Literal("valid", "expired", "revoked")
})

export const tokens = {
  list: Operation.make({
    endpoint: HttpApiEndpoint.get("list")`/sessions/${Operation.customerIdParameter}/tokens`.addSuccess(
      Schema.Array(TokenInfo)
    )
      .addError(SessionUnknown),
    description: "Lists the tokens of a session, without their text",
    on: Operation.session,
    accepts: Operation.nothing,
    run: ({ tokens }) =>
      Effect.map(tokens.list, (list) =>
        list.map(({ expiresAt, issuedAt, status }) => ({
          issuedAt: DateTime.unsafeMake(issuedAt),
          expiresAt: DateTime.unsafeMake(expiresAt),
          status
        })))
  }),
  revoke: Operation.make({
    endpoint: HttpApiEndpoint.post("revoke")`/sessions/${Operation.customerIdParameter}/tokens/revoke`.setPayload(
      Revocation
    )
      .addSuccess(Revoked).addError(ControlRefused).addError(SessionUnknown),
    description: "Revokes one token of a session, or all",
    on: Operation.session,
    accepts: Operation.accept(Revocation),
    run: ({ tokens }, { token }) =>
      Effect.map(
        tokens.revoke(Option.map(Option.fromNullable(token), Redacted.value)),
        (revoked) => ({ revoked })
      )
  })
}
