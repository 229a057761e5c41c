/**
 * Handles each request to the service: reads it, finds its session, decides the response, applies faults, and writes
 * the journal.
 */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type * as Fault from "../../Fault.ts"
import type * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import * as Kinds from "../faults/kinds.ts"
import * as Latency from "../faults/latency.ts"
import { type Operation, operationOf } from "../journal/entry.ts"
import { Recorder } from "../journal/recorder.ts"
import { clamp } from "../session/sessionClock.ts"
import * as Request from "../wire/request.ts"
import * as Response from "../wire/response.ts"
import * as AmlEndpoint from "./amlEndpoint.ts"
import * as AmlProfile from "./amlProfile.ts"
import { type Decision, refused } from "./decision.ts"
import * as Gateway from "./gateway.ts"
import * as TokenEndpoint from "./tokenEndpoint.ts"

/** A fault that fires at a request, or that a test person has. */
interface AppliedFault {
  readonly id: string
  readonly what: Fault.What
  /** The number of the request among those that the fault has counted. Null for the fault of a test person. */
  readonly request: number | null
}

const isLatency = ({ what }: { readonly what: Fault.What }): boolean => what.kind === "latency"

/**
 * Whether a refused token request of a known customer still receives a token, so that the test of a client sees what
 * the client does after it. The journal has the refusal.
 */
export class IsLenient extends Context.Reference<IsLenient>()("@effect-idv/mock-server/internal/IsLenient", {
  defaultValue: () => false
}) {}

interface Services {
  readonly isLenient: boolean
  readonly sessions: Session.Service
  readonly recorder: Context.Tag.Service<Recorder>
}

const exchange = ({ isLenient, recorder, sessions }: Services, head: Request.Head, body: Effect.Effect<Request.Body>) =>
  Effect.gen(function*() {
    const arrivedAt = yield* Clock.currentTimeMillis

    // Read the request.
    const request = { ...head, ...(yield* body) }
    const path = Request.pathOf(request.target)
    const operation = operationOf(path)
    const token = Request.bearer(request)

    // Find its session. A request without one uses the options of the server.
    const session = yield* findSession(sessions, request, path, operation, isLenient)
    const { customerId, journal, now, options, random } = Option.isSome(session)
      ? { ...session.value, options: yield* Ref.get(session.value.options), now: yield* session.value.clock.now }
      : {
        customerId: null,
        journal: sessions.unmatched,
        now: arrivedAt,
        options: sessions.options,
        random: recorder.random
      }
    const { clockSkew, profile } = options

    // Count the request for the session's faults, and get those that fire.
    const firings = yield* fireFaults(session, operation, token)
    const gatewayDecision = Option.flatMap(
      Option.fromNullable(firings.find((firing) => !isLatency(firing))),
      (firing) => Gateway.decide(firing, profile, now)
    )

    // Decide the response. A fault that simulates a gateway (`status` or `quota`) decides it without the service.
    const decision = Option.isSome(gatewayDecision)
      ? gatewayDecision.value
      : yield* Effect.zipRight(
        expireOrRevoke(firings, session, token),
        Effect.flatMap(
          decide(request, path, operation, session, options),
          (decision) =>
            isLenient && operation === "token" && decision.facts.kind === "refused" && Option.isSome(session)
              ? TokenEndpoint.grant(decision, session.value, profile)
              : Effect.succeed(decision)
        )
      )
    yield* expireOrRevoke(firings, session, Option.fromNullable(decision.issuedToken))
    const response = withDate(decision.response, now + clockSkew)

    // Apply the faults. All latencies are added. Of the other faults, only the first changes the response.
    const faults = [
      ...firings.map(({ id, number, what }): AppliedFault => ({
        id,
        what,
        request: number
      })),
      ...(decision.fault === undefined
        ? []
        : [{ id: "test-person", what: decision.fault, request: null }])
    ]
    const fault = faults.find((fault) => !isLatency(fault))
    const delivery = fault === undefined || Option.isSome(gatewayDecision)
      ? Response.Delivery.Whole({ response })
      : Kinds.apply(response, fault.what, { random, now })
    const delay = faults.reduce(
      (millis, { what }) => what.kind === "latency" ? millis + Latency.sample(what.distribution, random) : millis,
      0
    )

    // Write the journal before the response is sent, so that a client finds its own exchange there.
    const entry = yield* journal.write({
      customerId,
      operation,
      exchange: Redacted.make({
        request,
        response: { ...delivery.response, delivery: delivery._tag === "Whole" ? "whole" : "scripted" }
      }),
      rule: decision.rule,
      facts: decision.facts,
      claims: decision.claims,
      faults: faults.map(({ id, request, what }) => ({ id, kind: what.kind, request })),
      unexpected: decision.unexpected,
      millis: (yield* Clock.currentTimeMillis) - arrivedAt + delay
    })
    yield* recorder.record(entry)

    // Send the response.
    if (delay > 0) yield* Effect.sleep(delay)
    return delivery
  })

/** Adds the date by the session's clock. Otherwise Node would add the date of the machine. */
const withDate = (response: Response.Response, now: number): Response.Response => ({
  ...response,
  headers: { ...response.headers, date: new Date(clamp(now)).toUTCString() }
})

/** The name and the stack of a defect, without its message, which may contain parts of the request. */
const locationOf = (defect: unknown): string =>
  Predicate.isError(defect)
    ? `${defect.name} ${(defect.stack ?? "").split("\n").filter((line) => line.startsWith("    at ")).join("\n")}`
    : "a defect that is not an error"

/** Records a request that belongs to no session, such as input that is not HTTP. */
export const recordUnmatched = (
  { recorder, sessions }: Pick<Services, "recorder" | "sessions">,
  { request, response, ...decided }: Pick<Journal.Draft, "rule" | "facts" | "unexpected"> & {
    readonly request: Journal.Exchange["request"]
    readonly response: Response.Response
  }
): Effect.Effect<void> =>
  Effect.flatMap(
    sessions.unmatched.write({
      ...decided,
      customerId: null,
      operation: "other",
      exchange: Redacted.make({ request, response: { ...response, delivery: "whole" } }),
      claims: [],
      faults: [],
      millis: 0
    }),
    recorder.record
  )

/** Responds to a request after a defect of the mock server, and writes the request to the journal. */
const recover = (services: Services, head: Request.Head) => (defect: unknown) =>
  Effect.gen(function*() {
    const response = Response.problem(500, "The mock server itself failed. The request is not the cause")
    yield* Effect.logError(`The mock server failed: ${locationOf(defect)}`)
    yield* recordUnmatched(services, {
      request: { ...head, body: new Uint8Array() },
      response,
      rule: "server.defect",
      facts: { kind: "other", what: "The mock server itself failed: its log has the location" },
      unexpected: false
    })
    return Response.Delivery.Whole({ response })
  })

export const make: Effect.Effect<Request.Handler, never, Session.Sessions | Recorder> = Effect.map(
  Effect.all({ sessions: Session.Sessions, recorder: Recorder, isLenient: IsLenient }),
  (services) => (head, body) => Effect.catchAllDefect(exchange(services, head, body), recover(services, head))
)

/** Finds the session by the customer id of a token request, by the token of a check, or by a profile id. */
const findSession = (
  sessions: Session.Service,
  request: Request.Request,
  path: string,
  operation: Operation,
  isLenient: boolean
): Effect.Effect<Option.Option<Session.Session>> => {
  const byHandle = (handle: Option.Option<string>) =>
    Option.match(handle, { onNone: () => Effect.succeedNone, onSome: sessions.findByHandle })
  const byCustomer = (basic: Option.Option<Request.Basic>) =>
    Option.match(basic, {
      onNone: () => Effect.succeedNone,
      // A wrong key must not create a session, because the new session could cause the removal of another one.
      onSome: ({ customerId, customerKey }) =>
        customerKey === Redacted.value(Session.testKey) ? sessions.find(customerId) : sessions.known(customerId)
    })
  switch (operation) {
    case "token":
      return Effect.flatMap(
        byCustomer(Request.basic(request)),
        (session) =>
          Option.isSome(session)
            ? Effect.succeed(session)
            : isLenient && Option.isNone(Request.basic(request))
            ? sessions.known(Request.parametersOf(Buffer.from(request.body).toString()).get("client_id") ?? "")
            : byCustomer(Request.formBasic(request))
      )
    case "aml":
      return byHandle(Request.bearer(request))
    case "other":
      return byHandle(AmlProfile.idOf(path))
  }
}

/**
 * Counts the request for the faults of its session, and returns those that fire. A request with a token that the
 * session never issued is not counted.
 */
const fireFaults = (session: Option.Option<Session.Session>, operation: Operation, token: Option.Option<string>) =>
  Effect.gen(function*() {
    if (operation === "other" || Option.isNone(session)) return []
    const { faults, tokens } = session.value
    const isUnknownToken = Option.isSome(token) && (yield* tokens.statusOf(token.value)) === "unknown"
    return isUnknownToken ? [] : yield* faults.countRequest(operation)
  })

const decide = (
  request: Request.Request,
  path: string,
  operation: Operation,
  session: Option.Option<Session.Session>,
  options: Session.OptionValues
): Effect.Effect<Decision> => {
  const { profile } = options
  if (!request.isWhole) {
    return Effect.succeed(refusal("request.cut-off", 400, "The body broke off before its end"))
  }
  switch (operation) {
    case "token":
      return TokenEndpoint.decide(request, session, profile)
    case "aml":
      return AmlEndpoint.decide(request, session, options)
    case "other":
      if (Option.isSome(request.headersProblem)) {
        return Effect.succeed(refusal("request.headers", 400, request.headersProblem.value))
      }
      return Option.match(AmlProfile.idOf(path), {
        onNone: () => Effect.succeed(path === "/favicon.ico" ? unknownIcon : unknownPath),
        onSome: (profileId) => AmlProfile.decide(profileId, session)
      })
  }
}

const refusal = (rule: string, status: Response.ProblemStatus, problem: string): Decision => ({
  rule,
  facts: refused(problem),
  claims: [],
  unexpected: true,
  response: Response.problem(status, problem)
})

const unknownPath: Decision = {
  ...refusal(
    "path.unknown",
    404,
    `There are POST ${AccessToken.path} and POST ${AmlCredential.path}, and for people /_mock/ui`
  ),
  claims: ["paths.other"]
}

/** Browsers request an icon with every page. */
const unknownIcon: Decision = {
  ...unknownPath,
  rule: "path.icon",
  facts: { kind: "other", what: "A browser requested an icon, and there is none" },
  unexpected: false
}

/**
 * Expires or revokes a token if a fault requires it: the token of the request, before the endpoint checks it, or the
 * token that the response issues.
 */
const expireOrRevoke = (
  faults: ReadonlyArray<{ readonly what: Fault.What }>,
  session: Option.Option<Session.Session>,
  token: Option.Option<string>
) =>
  Effect.forEach(faults, ({ what }) => {
    if (Option.isNone(session) || Option.isNone(token)) return Effect.void
    const { tokens } = session.value
    switch (what.kind) {
      case "tokenExpiry":
        return tokens.expire(token)
      case "tokenRevocation":
        return tokens.revoke(token)
      default:
        return Effect.void
    }
  }, { discard: true })
