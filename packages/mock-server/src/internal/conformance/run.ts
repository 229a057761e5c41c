/** One run over a target: what is sent once, what is skipped and why, and how fast. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Case, Observation, Run, Target } from "../../Conformance.ts"
import * as Exchange from "./exchange.ts"
import * as People from "./people.ts"
import { read, type Seen } from "./readings.ts"
import * as Requests from "./requests.ts"
import type { Send } from "./send.ts"
import { grantOf } from "./tokenReadings.ts"
import { isHtml, isSuccess } from "./wireReadings.ts"

/** Why a case is not tried. */
class Skipped extends Data.TaggedError("Skipped")<{ readonly reason: string }> {}

const skip = (reason: string) => new Skipped({ reason })

const grant: ReadonlyArray<Send> = [{ to: "token" }]
const check: ReadonlyArray<Send> = [{ to: "aml", body: People.about(People.clear) }]

const isControlled = (sends: ReadonlyArray<Send>) => sends.some(({ to }) => to === "control")

const hex = (digits: number) =>
  Effect.map(
    Effect.all(Array.from({ length: digits }, () => Random.nextIntBetween(0, 16))),
    (all) => all.map((digit) => digit.toString(16)).join("")
  )

/** How many requests a sandbox may be sent. */
export const defaultBudget = 70

export const make = (target: Target): Effect.Effect<Run, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const { budget = defaultBudget, deadline = "10 seconds", spacing = "500 millis" } = target
    const isMock = target.kind === "mock"
    const name = `test-conformance-${yield* hex(8)}`
    const nobody: Requests.Customer = { id: `nobody-${yield* hex(8)}`, key: yield* hex(24) }
    const own: Requests.Customer = { id: name, key: "test-key" }
    const customer: Requests.Customer = {
      id: target.customerId ?? own.id,
      key: target.customerKey === undefined ? own.key : Redacted.value(target.customerKey)
    }
    const once = yield* Effect.makeSemaphore(1)
    const known = new Map<string, ReadonlyArray<Seen>>()
    let requests = 0
    let sessions = 0

    const exchange = (request: Exchange.Request) =>
      Effect.provideService(Exchange.send(request, deadline), HttpClient.HttpClient, client)

    const spend = Effect.gen(function*() {
      if (isMock) return
      if (requests >= budget) return yield* skip(`the budget of ${budget} requests is spent`)
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
    let latest = Option.none<string>()

    const token: Effect.Effect<string, Skipped> = Effect.suspend(() => perform(grant)).pipe(
      Effect.flatMap((seen) => Option.orElse(latest, () => tokenOf(seen))),
      Effect.catchTag("NoSuchElementException", () => skip("the customer is given no token"))
    )

    /** One after the other, as the customer. */
    const send = (sends: ReadonlyArray<Send>, as: Requests.Customer) =>
      Effect.gen(function*() {
        const seen: Array<Seen> = []
        for (const next of sends) {
          if (next.to === "control") {
            yield* control(Requests.control(target, "POST", `/${encodeURIComponent(as.id)}${next.path}`, next.body))
            continue
          }
          const asker = next.to === "token" && next.as === "unknown customer" ? nobody : as
          const isShared = next.to === "aml" && next.as !== "this token"
          const request = Requests.of(next, {
            target,
            customer: asker,
            wrong: nobody.key,
            token: isShared ? yield* token : Option.getOrElse(tokenOf(seen), () => ""),
            profile: Requests.profileOf(seen)
          })
          if (request === undefined) return yield* skip("the credential has no aml_profile at this address")
          yield* spend
          requests++
          const one: Seen = {
            send: next,
            exchange: yield* exchange(request),
            secrets: Requests.secretsOf(next, asker, nobody.key)
          }
          seen.push(one)
          if (asker === customer) latest = Option.orElse(tokenOf([one]), () => latest)
        }
        return seen
      })

    const perform = (sends: ReadonlyArray<Send>): Effect.Effect<ReadonlyArray<Seen>, Skipped> =>
      Effect.gen(function*() {
        const key = JSON.stringify(sends)
        const before = known.get(key)
        if (before !== undefined) return before
        const seen = yield* send(sends, isControlled(sends) ? yield* session : customer)
        known.set(key, seen)
        return seen
      })

    /** What is wrong with the right request is told once, and not by all that stands on it. */
    const reach = (sends: ReadonlyArray<Send>) =>
      Effect.gen(function*() {
        if (sends.length === 1 && JSON.stringify(sends) === JSON.stringify(grant)) return
        const [granted] = yield* perform(grant)
        if (granted?.exchange._tag !== "Answered") return yield* skip("the token endpoint does not answer")
        yield* token
        if (sends.every(({ to }) => to === "token") || JSON.stringify(sends) === JSON.stringify(check)) return
        const [checked] = yield* perform(check)
        if (checked?.exchange._tag !== "Answered") return yield* skip("the API does not answer")
        if (!isSuccess(checked.exchange)) {
          return yield* skip(`the API refuses the right request with ${checked.exchange.status}`)
        }
        if (isHtml(checked.exchange)) return yield* skip("the API answers the right request with HTML")
      })

    const observe = (one: Case): Effect.Effect<Observation> =>
      Effect.gen(function*() {
        const begun = yield* Clock.currentTimeMillis
        const sent = requests
        const outcome = yield* Effect.gen(function*() {
          if (!isMock && one.notOnSandbox !== undefined) return yield* skip(one.notOnSandbox)
          yield* reach(one.sends)
          return { seen: read(one.reads, yield* perform(one.sends)) }
        }).pipe(Effect.catchTag("Skipped", ({ reason }) => Effect.succeed({ skipped: reason })))
        return {
          case: one.id,
          ...outcome,
          requests: requests - sent,
          millis: (yield* Clock.currentTimeMillis) - begun
        }
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
    return { observe }
  })

const tokenOf = (seen: ReadonlyArray<Seen>): Option.Option<string> =>
  Option.firstSomeOf(
    seen.filter(({ send }) => send.to === "token").map(({ exchange }) =>
      exchange._tag === "Answered" ? Option.map(grantOf(exchange), ({ token }) => token) : Option.none()
    )
  )
