/** One run over a target: what is sent once, what is skipped and why, and how fast. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Case, Observation, Run, Target } from "../../Conformance.ts"
import type { Send, ToAml } from "../cases/requestSpec.ts"
import { read, type Seen } from "../readings/readings.ts"
import { isSuccess } from "../readings/responseReadings.ts"
import { grantOf } from "../readings/tokenReadings.ts"
import * as Waits from "../waits.ts"
import * as Base from "./preflight.ts"
import * as Trust from "./refusalConfirmation.ts"
import * as Requests from "./requests.ts"
import * as Exchange from "./wire.ts"

/** Why a case is not tried; or left out, if it stands on another. */
class Skipped extends Data.TaggedError("Skipped")<{ readonly reason: string; readonly standsOn?: string }> {}

const skip = (reason: string, standsOn?: string) => new Skipped({ reason, ...(standsOn !== undefined && { standsOn }) })

const isControlled = (sends: ReadonlyArray<Send>) => sends.some(({ to }) => to === "control")

const hex = (digits: number) =>
  Effect.map(
    Effect.all(Array.from({ length: digits }, () => Random.nextIntBetween(0, 16))),
    (all) => all.map((digit) => digit.toString(16)).join("")
  )

/** How many requests a sandbox may be sent. */
export const defaultBudget = 70

const tooOften = "rate limited: nothing more is sent to who answers with 429 again and again"

/** Of these, how many are kept for the end, to confirm the refusals of either endpoint. */
const reserve = 2

/** Whoever is told to come back later so often in a row does. */
const patience = 3

/** In milliseconds, with a minute for clocks that differ. */
const lifetime = 59 * 60_000

const statusOf = ({ exchange }: Seen): number | undefined => exchange._tag === "Answered" ? exchange.status : undefined

const isGood = (to: Trust.Endpoint, { exchange }: Seen): boolean =>
  exchange._tag === "Answered" && Trust.isGood(to, exchange)

const lostNow = (to: Trust.Endpoint, one: Seen): string => {
  const name = to === "token" ? "the token endpoint" : "the API"
  const { exchange } = one
  return exchange._tag === "Answered"
    ? `${name} refuses the right request, too, with ${exchange.status}`
    : `${name} does not answer the right request any more`
}

export const make = (target: Target): Effect.Effect<Run, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    yield* Waits.check(target)
    const client = yield* HttpClient.HttpClient
    const { budget = defaultBudget, deadline = "10 seconds", spacing = "500 millis" } = target
    const isMock = target.kind === "mock"
    const name = `test-conformance-${yield* hex(8)}`
    const stranger: Requests.Customer = { id: `nobody-${yield* hex(8)}`, key: yield* hex(24) }
    const own: Requests.Customer = { id: name, key: "test-key" }
    const customer: Requests.Customer = {
      id: target.customerId ?? own.id,
      key: target.customerKey === undefined ? own.key : Redacted.value(target.customerKey)
    }
    const once = yield* Effect.makeSemaphore(1)
    const known = new Map<string, Either.Either<ReadonlyArray<Seen>, Skipped>>()
    const trust = Trust.make()
    /** Refusals of tokens that had not lived their hour. */
    const deaths: Array<Seen> = []
    let requests = 0
    let sessions = 0
    let limited = 0
    let ending = false
    let down = Option.none<string>()

    const exchange = (request: Exchange.Request) =>
      Effect.provideService(Exchange.send(request, deadline), HttpClient.HttpClient, client)

    const spend = Effect.gen(function*() {
      if (isMock) return
      if (limited >= patience) return yield* skip(tooOften)
      if (requests >= (ending ? budget : Math.max(1, budget - reserve))) {
        return yield* skip(`the budget of ${budget} requests is spent`)
      }
      if (requests > 0) yield* Effect.sleep(spacing)
    })

    const control = (request: Exchange.Request) =>
      Effect.flatMap(exchange(request), (answer) =>
        answer._tag === "Answered" && isSuccess(answer)
          ? Effect.void
          : skip(
            answer._tag === "Answered"
              ? `the control plane of the mock server answers ${answer.status}`
              : "the control plane of the mock server cannot be reached"
          ))

    /** A session with a clock and faults of its own. */
    const session = Effect.gen(function*() {
      const fresh: Requests.Customer = { id: `${name}-${++sessions}`, key: "test-key" }
      yield* control(Requests.control(target, "POST", "", { customerId: fresh.id }))
      return fresh
    })

    /** A service may end a token when it gives the next. */
    let latest = Option.none<{ readonly token: string; readonly since: number }>()

    const token: Effect.Effect<string, Skipped> = Effect.suspend(() => perform(Base.grant)).pipe(
      Effect.flatMap(() => latest),
      Effect.catchTag("NoSuchElementException", () => skip("the customer is given no token")),
      Effect.map(({ token }) => token)
    )

    const ask = (
      next: Exclude<Send, { readonly to: "control" }>,
      asker: Requests.Customer,
      token: string,
      before: ReadonlyArray<Seen>
    ): Effect.Effect<Seen, Skipped> =>
      Effect.gen(function*() {
        const request = Requests.of(next, {
          target,
          customer: asker,
          stranger,
          token,
          profile: Requests.profileOf(before)
        })
        if (request === undefined) return yield* skip("the credential has no aml_profile at this address")
        yield* spend
        const at = requests++
        const one: Seen = {
          at,
          send: next,
          exchange: yield* exchange(request),
          secrets: Requests.secretsOf(next, asker, stranger)
        }
        if (next.to !== "profile" && one.exchange._tag === "Answered") trust.heard(next.to, at, one.exchange)
        if (asker === customer) {
          const since = yield* Clock.currentTimeMillis
          latest = Option.orElse(
            Option.map(tokenOf([one]), (token) => ({ token, since })),
            () => latest
          )
        }
        return one
      })

    /** Whoever is told to come back later has learned nothing of the request. */
    const unlimited = (one: Seen, next: Send): Effect.Effect<Seen, Skipped> => {
      const isLimited = statusOf(one) === 429 && (next.to === "token" || next.to === "aml") && trust.isKnown(next.to)
      limited = isLimited ? limited + 1 : 0
      return isLimited ? skip("rate limited: it is answered with 429") : Effect.succeed(one)
    }

    const lost = (reason: string) => {
      down = Option.some(reason)
      return skip(reason)
    }

    const check = Effect.suspend(() => Effect.flatMap(token, (token) => ask(Base.check, customer, token, [])))

    /**
     * With the token that all cases share. Where that is refused and was accepted before, either the
     * service refuses so what is wrong here, or the token has ended: then there is a new one.
     */
    const share = (next: ToAml): Effect.Effect<Seen, Skipped> =>
      Effect.gen(function*() {
        const one = yield* ask(next, customer, yield* token, [])
        const isUnexpected = statusOf(one) === 401 && (next.as ?? "token") === "token" && trust.isKnown("aml")
        if (!isUnexpected) return one
        const isRight = Base.isCheck([next])
        const before = isRight ? one : yield* Effect.flatMap(check, (one) => unlimited(one, Base.check))
        if (isGood("aml", before)) return one
        if (statusOf(before) !== 401) return yield* lost(lostNow("aml", before))
        const now = yield* Clock.currentTimeMillis
        const isYoung = Option.exists(latest, ({ since }) => now - since < lifetime)
        const granted = yield* ask(Base.token, customer, "", [])
        if (!isGood("token", granted)) return yield* lost(lostNow("token", granted))
        const again = yield* ask(next, customer, yield* token, [])
        const after = statusOf(again) !== 401 || isRight ? again : yield* check
        if (statusOf(after) === 401) return yield* lost(lostNow("aml", after))
        if (isYoung) deaths.push(one)
        return again
      })

    /** One after the other, as the customer. */
    const send = (sends: ReadonlyArray<Send>, as: Requests.Customer) =>
      Effect.gen(function*() {
        const seen: Array<Seen> = []
        for (const next of sends) {
          if (next.to === "control") {
            yield* control(Requests.control(target, "POST", `/${encodeURIComponent(as.id)}${next.path}`, next.body))
            continue
          }
          const asker = next.to === "token" && next.as === "unknown customer" ? stranger : as
          const one = next.to === "aml" && next.as !== "this token"
            ? yield* share(next)
            : yield* ask(next, asker, Option.getOrElse(tokenOf(seen), () => ""), seen)
          seen.push(isControlled(sends) ? one : yield* unlimited(one, next))
        }
        return seen
      })

    const perform = (sends: ReadonlyArray<Send>): Effect.Effect<ReadonlyArray<Seen>, Skipped> =>
      Effect.gen(function*() {
        const key = JSON.stringify(sends)
        const before = known.get(key)
        if (before !== undefined) return yield* before
        const seen = yield* Effect.either(send(sends, isControlled(sends) ? yield* session : customer))
        known.set(key, seen)
        return yield* seen
      })

    /** What is wrong with the right request is told once, and not by all that stands on it. */
    const reach = (sends: ReadonlyArray<Send>): Effect.Effect<Base.Lost | undefined, Skipped> =>
      Effect.gen(function*() {
        const granted = Base.lostToken(yield* perform(Base.grant))
        if (Base.isGrant(sends)) return granted
        if (granted !== undefined) return yield* skip(granted.reason, granted.at)
        if (sends.length > 0 && sends.every(({ to }) => to === "token")) return undefined
        if (Option.isSome(down)) return yield* skip(down.value)
        const seen = yield* perform(Base.checked)
        const checked = Base.lostAml(seen)
        if (Base.isCheck(sends)) return checked
        const without = checked ?? Base.withoutCredential(seen)
        return without === undefined ? undefined : yield* skip(without.reason, without.at)
      })

    const look = (one: Case) =>
      Effect.gen(function*() {
        if (!isMock && one.notOnSandbox !== undefined) return yield* skip(one.notOnSandbox)
        const lost = yield* reach(one.sends)
        const seen = one.sends.length === 0 ? deaths : yield* perform(one.sends)
        if (Base.isGrant(one.sends) || Base.isCheck(one.sends)) {
          const isLeftOut = lost !== undefined && lost.at !== one.id && !lost.causes.includes(one.reads)
          return { seen: read(one.reads, seen), ...(isLeftOut && { skipped: lost.reason, standsOn: lost.at }) }
        }
        if (one.standsOn !== undefined && !Trust.isRefused(seen)) {
          return yield* skip("there was no refusal", one.standsOn)
        }
        trust.judged(one.id, seen)
        return { seen: read(one.reads, seen) }
      })

    const observe = (one: Case): Effect.Effect<Observation> =>
      Effect.gen(function*() {
        const begun = yield* Clock.currentTimeMillis
        const sent = requests
        const outcome = yield* Effect.catchTag(
          look(one),
          "Skipped",
          ({ reason, standsOn }) => Effect.succeed({ skipped: reason, ...(standsOn !== undefined && { standsOn }) })
        )
        return {
          case: one.id,
          ...outcome,
          requests: requests - sent,
          millis: (yield* Clock.currentTimeMillis) - begun
        }
      }).pipe(once.withPermits(1))

    /** Whether an endpoint still does what it is there for; if not, why. */
    const standing = (to: Trust.Endpoint): Effect.Effect<string> =>
      Effect.gen(function*() {
        if (!trust.isDoubtful(to)) return ""
        if (to === "aml" && Option.isSome(down)) return down.value
        const one = yield* to === "token" ? ask(Base.token, customer, "", []) : share(Base.check)
        return isGood(to, one) ? "" : lostNow(to, one)
      }).pipe(Effect.catchTag("Skipped", ({ reason }) => Effect.succeed(reason)))

    const confirm = (observations: ReadonlyArray<Observation>) =>
      Effect.gen(function*() {
        const sent = requests
        ending = true
        const reasons = { token: yield* standing("token"), aml: yield* standing("aml") }
        return observations.map(trust.believed((to) => `its refusal is not confirmed: ${reasons[to]}`)).map(
          (observation, i) =>
            i === observations.length - 1
              ? { ...observation, requests: observation.requests + requests - sent }
              : observation
        )
      }).pipe(once.withPermits(1))

    yield* Effect.addFinalizer(() =>
      isMock
        ? Effect.forEach(
          [
            ...(target.customerId === undefined ? [name] : []),
            ...Array.from({ length: sessions }, (_, i) => `${name}-${i + 1}`)
          ],
          // Or its deadline would not end it: a finalizer is not interrupted.
          (id) => Effect.interruptible(exchange(Requests.control(target, "DELETE", `/${id}`))),
          { discard: true }
        )
        : Effect.void
    )
    return { observe, confirm }
  })

const tokenOf = (seen: ReadonlyArray<Seen>): Option.Option<string> =>
  Option.firstSomeOf(
    seen.filter(({ send }) => send.to === "token").map(({ exchange }) =>
      exchange._tag === "Answered" ? Option.map(grantOf(exchange), ({ token }) => token) : Option.none()
    )
  )
