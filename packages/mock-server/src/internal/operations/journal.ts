/** The operations on the journal of a session, and on that of the requests that belong to no session. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import * as Verification from "../../Verification.ts"
import * as Entry from "../journal/entry.ts"
import { closed, optional, trueOrFalse } from "../schema/fields.ts"
import { ControlRefused, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"

/**
 * The entries of a journal, the oldest first.
 *
 * @category schemas
 * @since 0.1.0
 */
export const JournalPage = Schema.Struct({
  dropped: Schema.NonNegativeInt.annotations({ description: "how many older entries the journal no longer keeps" }),
  entries: Schema.Array(Journal.Entry)
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface JournalPage extends Schema.Schema.Type<typeof JournalPage> {}

const { fault, operation, rule } = Verification.Pattern.fields
const statusExpected = Violation.expecting("a status, a whole number from 100 to 599")

/** A number or a truth value may be a text, as in a query. An address must not contain a person. */
export const Search = Schema.Struct({
  operation,
  status: optional(
    Schema.compose(
      Schema.Union(Schema.Number, Schema.NumberFromString).annotations(statusExpected),
      Schema.Number.pipe(Schema.int(statusExpected), Schema.between(100, 599, statusExpected))
    )
  ),
  rule,
  fault,
  unexpected: optional(
    Schema.Union(
      trueOrFalse,
      Schema.transform(Schema.Literal("true", "false"), Schema.Boolean, {
        strict: true,
        decode: (text) => text === "true",
        encode: (flag) => flag ? "true" as const : "false" as const
      })
    ).annotations(Violation.expecting("true or false"))
  )
}).annotations({ ...closed, description: "an object with any of operation, status, rule, fault, unexpected" })

/** The query parameters in the OpenAPI document. */
const query = Schema.Struct({
  operation: Operation.queryParameter({ type: "string", enum: Journal.Operation.literals }),
  status: Operation.queryParameter({ type: "integer", minimum: 100, maximum: 599 }),
  rule: Operation.queryParameter({ type: "string", minLength: 1 }),
  fault: Operation.queryParameter({ type: "string", minLength: 1 }),
  unexpected: Operation.queryParameter({ type: "boolean" })
})

/** An expectation as a body. A derived client needs it in a struct, because a payload cannot be a union. */
const expectation = Schema.transform(
  Verification.Expectation,
  Schema.typeSchema(Schema.Struct({ expectation: Verification.Expectation })),
  {
    strict: true,
    decode: (expectation) => ({ expectation }),
    encode: ({ expectation }) => expectation
  }
)

const unmatched: Operation.Subject<Journal.Journal, never> = {
  ...Operation.server,
  find: () => Effect.map(Session.Sessions, ({ unmatched }) => unmatched)
}

const searchIn = ({ dropped, entries }: Journal.Journal, search: typeof Search.Type) =>
  Effect.all({
    entries: Effect.map(entries, (all) => all.filter(Verification.matches(search)).map(Entry.plain)),
    dropped
  })

export const journal = {
  search: Operation.make({
    endpoint: HttpApiEndpoint.get("search")`/sessions/${Operation.customerIdParameter}/journal`.setUrlParams(query)
      .addSuccess(JournalPage).addError(ControlRefused).addError(SessionUnknown),
    description:
      "Shows the exchanges of a session with the reason for each response. Names, keys and tokens are masked",
    on: Operation.session,
    accepts: Operation.accept(Search),
    run: ({ journal }, search) => searchIn(journal, search)
  }),
  clear: Operation.make({
    endpoint: HttpApiEndpoint.del("clear")`/sessions/${Operation.customerIdParameter}/journal`.addSuccess(Schema.Void)
      .addError(SessionUnknown),
    description: "Deletes the exchanges of a session",
    on: Operation.session,
    accepts: Operation.nothing,
    run: ({ journal }) => journal.clear
  }),
  verify: Operation.make({
    endpoint: HttpApiEndpoint.post("verify")`/sessions/${Operation.customerIdParameter}/verify`.setPayload(expectation)
      .addSuccess(Schema.Void).addError(ControlRefused).addError(SessionUnknown)
      .addError(Verification.VerificationFailed, { status: 409 }),
    impact: "reads",
    description: "Verifies the exchanges of a session. Names, dates of birth and headers are compared, and not shown",
    on: Operation.session,
    accepts: Operation.accept(Verification.Expectation, "expectation"),
    run: (session, expectation, path) =>
      Effect.gen(function*() {
        yield* session.journal.verify(expectation)
        // A session that was removed meanwhile received no more entries, so its result means nothing.
        if ((yield* Operation.session.find(path)) !== session) {
          return yield* new SessionUnknown({ customerId: session.customerId })
        }
      })
  }),
  unmatched: Operation.make({
    endpoint: HttpApiEndpoint.get("unmatched", "/unmatched").setUrlParams(query)
      .addSuccess(JournalPage).addError(ControlRefused),
    description: "Shows the requests that belong to no session",
    on: unmatched,
    accepts: Operation.accept(Search),
    run: searchIn
  }),
  verifyUnmatched: Operation.make({
    endpoint: HttpApiEndpoint.post("verifyUnmatched", "/unmatched/verify").setPayload(expectation)
      .addSuccess(Schema.Void).addError(ControlRefused).addError(Verification.VerificationFailed, { status: 409 }),
    impact: "reads",
    description: "Verifies the requests that belong to no session",
    on: unmatched,
    accepts: Operation.accept(Verification.Expectation, "expectation"),
    run: ({ verify }, expectation) => verify(expectation)
  })
}
