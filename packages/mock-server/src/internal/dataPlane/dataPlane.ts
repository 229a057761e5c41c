/**
 * One request of the data plane, from its arrival to its answer: find the session, let faults fire,
 * ask the endpoint, write the journal, deliver.
 */
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as Request from "../http/request.ts"
import * as Reply from "../http/response.ts"
import * as Delivered from "../http/script.ts"
import * as Masking from "../journal/masking.ts"
import { Recorder } from "../journal/recorder.ts"
import type { Firing } from "../session/faultBoard.ts"
import * as Schedule from "../session/schedule.ts"
import * as AmlEndpoint from "./amlEndpoint.ts"
import * as AmlProfile from "./amlProfile.ts"
import * as Broken from "./applyFault.ts"
import type { Answer } from "./decision.ts"
import * as Shaping from "./responseFormat.ts"
import * as TokenEndpoint from "./tokenEndpoint.ts"

type Operation = "token" | "aml" | "other"

type Found = Option.Option<Session.Session>

/** What changes an answer: a fault that fires, or the subject of the check. */
type Change = Pick<Firing, "id" | "what"> & { readonly because: string; readonly retryIn: number }

const exchange = Effect.gen(function*() {
  const arrivedAt = yield* Clock.currentTimeMillis
  const sessions = yield* Session.Sessions
  const { random, record, reveal } = yield* Recorder
  const source = yield* HttpServerRequest.HttpServerRequest
  const request = yield* Request.read(source)
  const path = Request.pathOf(request.target)
  const operation: Operation = path === IdvApi.token.path ? "token" : path === IdvApi.aml.path ? "aml" : "other"

  const found = yield* sessionOf(request, path, operation)
  const profile = Option.isSome(found)
    ? yield* Ref.get(found.value.profile)
    : sessions.settings.profile ?? Profile.defaultProfile
  const now = Option.isSome(found) ? yield* found.value.clock.now : arrivedAt
  const firings = yield* firingsOf(operation, found, Request.bearer(request))
  const changes = firings.map(changeOf)

  const answered = yield* replacement(changes, profile, now).pipe(
    Option.match({
      onSome: Effect.succeed,
      onNone: () =>
        Effect.zipRight(
          endTokens(changes, found, Request.bearer(request)),
          answer(operation, request, path, found, profile)
        )
    })
  )
  yield* endTokens(changes, found, Option.fromNullable(answered.issued))
  const all = answered.fault === undefined
    ? changes
    : Arr.append(changes, { id: "subject", what: answered.fault, because: "the name asks for it", retryIn: 0 })

  const chance = Option.match(found, { onNone: () => random, onSome: ({ random }) => random })
  const delivery = Option.match(Arr.findFirst(all, ({ what }) => what.kind !== "latency"), {
    onNone: () => Reply.Delivery.Whole({ reply: answered.reply }),
    onSome: ({ what }) => Broken.apply(answered.reply, what, { random: chance, now })
  })
  const delay = all.reduce(
    (millis, { what }) => what.kind === "latency" ? millis + Schedule.sample(what.distribution, chance) : millis,
    0
  )

  const journal = Option.match(found, { onNone: () => sessions.strangers, onSome: ({ journal }) => journal })
  const entry = yield* journal.write({
    customerId: Option.match(found, { onNone: () => null, onSome: ({ customerId }) => customerId }),
    operation,
    request: Masking.maskRequest({ operation, ...request }, reveal),
    response: {
      ...Masking.maskResponse(delivery.reply, reveal),
      delivery: delivery._tag === "Whole" ? "whole" : "scripted"
    },
    rule: answered.rule,
    why: [answered.why, ...all.map(({ because, id, what }) => `${id} (${what.kind}): ${because}`)].join(". "),
    claims: answered.claims,
    faults: all.map(({ id, what }) => ({ id, kind: what.kind })),
    unexpected: answered.unexpected,
    millis: (yield* Clock.currentTimeMillis) - arrivedAt + delay
  })
  yield* record(entry)

  if (delay > 0) yield* Effect.sleep(delay)
  return Delivered.response(delivery)
})

/** Where in the code, and not what: a message may repeat what came. */
const placeOf = (defect: unknown): string =>
  Predicate.isError(defect)
    ? `${defect.name} ${(defect.stack ?? "").split("\n").filter((line) => line.startsWith("    at ")).join("\n")}`
    : "a defect that is no error"

/** A defect of the server is an exchange too: the client gets an answer, and the journal says what it was. */
const broken = (defect: unknown) =>
  Effect.gen(function*() {
    const { strangers } = yield* Session.Sessions
    const { record, reveal } = yield* Recorder
    const { headers, method, originalUrl } = yield* HttpServerRequest.HttpServerRequest
    const reply = problem(500, "Internal Server Error", "This is a fault of the mock server, and not of the request")
    const parts = { operation: "other" as const, method, target: originalUrl, headers, body: reply.body.subarray(0, 0) }
    yield* Effect.logError(`The mock server failed: ${placeOf(defect)}`)
    const entry = yield* strangers.write({
      customerId: null,
      operation: "other",
      request: Masking.maskRequest(parts, reveal),
      response: { status: reply.status, headers: reply.headers, body: "", delivery: "whole" },
      rule: "server.defect",
      why: "The mock server itself failed: its log says where",
      claims: [],
      faults: [],
      unexpected: false,
      millis: 0
    })
    yield* record(entry)
    return Delivered.response(Reply.Delivery.Whole({ reply }))
  })

export const handle: Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Session.Sessions | Recorder
> = Effect.suspend(() => Effect.catchAllDefect(exchange, broken))

const sessionOf = (request: Request.Request, path: string, operation: Operation) =>
  Effect.flatMap(Session.Sessions, (sessions): Effect.Effect<Found> => {
    const carried = (handle: Option.Option<string>) =>
      Option.match(handle, { onNone: () => Effect.succeedNone, onSome: sessions.findCarried })
    const byCustomer = (basic: Option.Option<Request.Basic>) =>
      Option.match(basic, {
        onNone: () => Effect.succeedNone,
        // With a wrong key no session begins: it would take the place of another.
        onSome: ({ customerId, customerKey }) =>
          customerKey === Redacted.value(Session.testKey) ? sessions.find(customerId) : sessions.known(customerId)
      })
    switch (operation) {
      case "token":
        return Effect.flatMap(
          byCustomer(Request.basic(request)),
          (found) => Option.isSome(found) ? Effect.succeed(found) : byCustomer(Request.formBasic(request))
        )
      case "aml":
        return carried(Request.bearer(request))
      case "other":
        return carried(AmlProfile.idOf(path))
    }
  })

/** A token that was never given away is no request of the session that it names. */
const firingsOf = (operation: Operation, found: Found, token: Option.Option<string>) =>
  Effect.gen(function*() {
    if (operation === "other" || Option.isNone(found)) return []
    const { faults, tokens } = found.value
    const isStranger = operation === "aml" && Option.isSome(token) &&
      (yield* tokens.statusOf(token.value)) === "unknown"
    return isStranger ? [] : yield* faults.next(operation)
  })

const answer = (
  operation: Operation,
  request: Request.Request,
  path: string,
  found: Found,
  profile: Profile.Profile
): Effect.Effect<Answer> => {
  if (!request.isWhole) return Effect.succeed(cutOff)
  switch (operation) {
    case "token":
      return TokenEndpoint.answer(request, found, profile)
    case "aml":
      return AmlEndpoint.answer(request, found, profile, (profileId) => AmlProfile.url(request.headers, profileId))
    case "other":
      if (Option.isSome(request.headersProblem)) return Effect.succeed(ambiguous(request.headersProblem.value))
      return Option.match(AmlProfile.idOf(path), {
        onNone: () => Effect.succeed(path === "/favicon.ico" ? noIcon : nothingThere),
        onSome: (profileId) => AmlProfile.answer(profileId, found)
      })
  }
}

const problem = (status: number, title: string, detail: string) =>
  Reply.json(status, { type: "about:blank", title, status, detail }, {}, "application/problem+json")

const cutOff: Answer = {
  rule: "request.cut-off",
  why: "The body broke off before its end",
  claims: [],
  unexpected: true,
  reply: problem(400, "Bad Request", "The body broke off before its end")
}

const ambiguous = (why: string): Answer => ({
  rule: "request.headers",
  why,
  claims: [],
  unexpected: true,
  reply: problem(400, "Bad Request", why)
})

const paths = `There are POST ${IdvApi.token.path} and POST ${IdvApi.aml.path}, and for people /_mock/ui`

const nothingThere: Answer = {
  rule: "path.unknown",
  why: paths,
  claims: ["paths.other"],
  unexpected: true,
  reply: problem(404, "Not Found", paths)
}

/** Browsers ask for one beside any page. */
const noIcon: Answer = { ...nothingThere, rule: "path.icon", why: "A browser looks for an icon", unexpected: false }

const changeOf = ({ id, number, retryIn, what }: Firing): Change => ({
  id,
  what,
  retryIn,
  because: `fires at request ${number} of those it watches`
})

/** A gateway's answer: the service itself never saw the request. */
const replacement = (
  changes: ReadonlyArray<Change>,
  profile: Profile.Profile,
  now: number
): Option.Option<Answer> => {
  const replaced = (kind: string, why: string, reply: Reply.Reply, claims: ReadonlyArray<string>): Answer => ({
    rule: `fault.${kind}`,
    why,
    claims,
    unexpected: false,
    reply
  })
  return Arr.findFirst(changes, ({ what }) => what.kind !== "latency").pipe(
    Option.flatMap(({ retryIn, what }) => {
      switch (what.kind) {
        case "status":
          return Option.some(
            replaced("status", "The service was not asked", Reply.empty(what.status), [])
          )
        case "quota":
          return Option.some(replaced(
            "quota",
            `More than ${what.limit} requests in ${Duration.format(what.per)}`,
            withRetryAfter(Shaping.rateLimited(profile, Duration.millis(retryIn), now), what.retryAfter, now),
            ["limits.rate.retry-after"]
          ))
        default:
          return Option.none()
      }
    })
  )
}

const withRetryAfter = (reply: Reply.Reply, form: Fault.RetryAfter | "profile", now: number): Reply.Reply =>
  form === "profile" ? reply : { ...reply, headers: { ...reply.headers, "retry-after": Broken.retryAfter(form, now) } }

const ends: Partial<Record<Fault.What["kind"], "expire" | "revoke">> = {
  tokenExpiry: "expire",
  tokenRevocation: "revoke"
}

/** Of the token that came with the request, before it is looked at, and of one that is issued. */
const endTokens = (changes: ReadonlyArray<Change>, found: Found, token: Option.Option<string>) =>
  Effect.forEach(changes, ({ what }) => {
    const end = ends[what.kind]
    return end === undefined || Option.isNone(found) || Option.isNone(token)
      ? Effect.void
      : found.value.tokens[end](token)
  }, { discard: true })
