/**
 * The sets of servers whose authors knew the service document, and not the suite. A set has a correct server in several
 * styles, and wrong servers: the server `strict` with one fault each.
 */
import type { Conformance } from "@effect-idv/contract"
import { Clock, Duration, Effect, Redacted } from "effect"
import type { Changes } from "./changes.ts"
import * as Faults from "./faults.ts"
import { serve } from "./http.ts"
import { make, type Person, type Service, type Style } from "./service.ts"
import * as Check1 from "./set1/request.ts"
import * as Response1 from "./set1/response.ts"
import * as Token1 from "./set1/token.ts"
import * as Check2 from "./set2/request.ts"
import * as Response2 from "./set2/response.ts"
import * as Token2 from "./set2/token.ts"
import * as Check3 from "./set3/request.ts"
import * as Response3 from "./set3/response.ts"
import * as State3 from "./set3/state.ts"
import * as Token3 from "./set3/token.ts"
import * as Styles1 from "./styles/set1.ts"
import * as Styles2 from "./styles/set2.ts"
import * as Styles3 from "./styles/set3.ts"

export const names = ["set1", "set2", "set3"] as const
export type Name = typeof names[number]

/**
 * What the suite may do:
 *
 * - `mock`: move the clock, and send any number of requests.
 * - `sandbox`: what a user runs by default, with the vendor's test persons.
 * - `fictional`: the same without test persons.
 * - `wide`: as `sandbox`, with any number of requests, but without a clock.
 */
export const modes = ["mock", "sandbox", "fictional", "wide"] as const
export type Mode = typeof modes[number]

/** A server that runs. */
export interface Started {
  readonly target: Conformance.Target
  /** The clock of the suite, which moves with that of the server. */
  readonly clock: Clock.Clock
}

/** The wait between two requests of a default run, in milliseconds. */
const spacing = 500

/** A clock with which a default run takes no longer than its requests: the wait between two of them moves both clocks. */
export const clockOf = (advance: (millis: number) => Effect.Effect<void>): Clock.Clock => {
  const real = Clock.make()
  let moved = 0
  const now = () => Date.now() + moved
  return Object.assign(Clock.make(), {
    unsafeCurrentTimeMillis: now,
    currentTimeMillis: Effect.sync(now),
    sleep: (duration: Duration.Duration) =>
      Duration.toMillis(duration) === spacing
        ? Effect.zipRight(Effect.sync(() => void (moved += spacing)), advance(spacing))
        : real.sleep(duration)
  })
}

/** What a mode changes in a target. The clock and the persons are those of the server. */
export const ofMode = (
  mode: Mode,
  { clock, persons }: Required<Pick<Conformance.Target, "clock" | "persons">>
): Pick<Conformance.Target, "budget" | "clock" | "persons" | "spacing" | "wrongKeys"> => ({
  ...(mode === "mock" ? { clock, spacing: 0 } : { spacing }),
  ...((mode === "mock" || mode === "wide") && { budget: 100_000, wrongKeys: true }),
  ...((mode === "sandbox" || mode === "wide") && { persons })
})

export interface ServerSet {
  /** The correct servers. */
  readonly styles: Readonly<Record<string, Style> & Record<"strict", Style>>
  /** Correct servers too, but the suite cannot read their token, because the document shows no field of its response. */
  readonly apart?: Readonly<Record<string, Style>>
  /** The wrong servers: the style `strict` with one change each. */
  readonly faults: ReadonlyArray<Faults.Fault>
  /** Whether those that the suite missed were read, so that its figures say little about servers that nobody read. */
  readonly isRegression: boolean
}

const faultsOf = (name: Name, changes: Changes) => Faults.read(new URL(`${name}/faults.txt`, import.meta.url), changes)

export const sets = {
  set1: {
    styles: Styles1.styles,
    faults: faultsOf("set1", { ...Token1.token, ...Check1.request, ...Response1.response }),
    isRegression: false
  },
  set2: {
    styles: Styles2.styles,
    apart: { foreign: Styles2.foreign },
    faults: faultsOf("set2", { ...Token2.token, ...Check2.request, ...Response2.response }),
    isRegression: true
  },
  set3: {
    styles: Styles3.styles,
    faults: faultsOf("set3", { ...Token3.token, ...State3.state, ...Check3.request, ...Response3.response }),
    isRegression: true
  }
} satisfies Record<Name, ServerSet>

const candidates: ReadonlyArray<Person> = [
  { name: "Greta Vale Testpep", dob: "04-05-1961" },
  { name: "Hugo Orr Testsanction", dob: "06-07-1972" },
  { name: "Ines Ray Testclear", dob: "08-09-1983" },
  { name: "Jon Sand Testclear", dob: "10-11-1994" }
]

/** The test persons of the author, with the results of the correct server. */
const personsOf = (service: Service): ReadonlyArray<Conformance.TestPerson> => {
  const request = { method: "POST", path: "/api/aml", query: "", headers: {}, body: "", connection: 0, at: 0 }
  const token = { value: "", at: 0, uses: 0, last: 0, request }
  return candidates.map((person) => ({
    ...person,
    matchFound: service.matches({ ...person, request, token }) ? "Potential match" : "No"
  }))
}

/** A server and the clock of the suite, until the scope closes. */
export const starting = (style: Style, mode: Mode, fault?: Faults.Fault) =>
  Effect.gen(function*() {
    let moved = 0
    const now = () => Date.now() + moved
    const url = yield* serve(make(style, now, fault?.change))
    const advance = (millis: number) => Effect.sync(() => void (moved += millis))
    const target: Conformance.Target = {
      kind: "sandbox",
      authUrl: url,
      baseUrl: url,
      customerId: style.customer.id,
      customerKey: Redacted.make(style.customer.key),
      ...ofMode(mode, { clock: advance, persons: personsOf(make(style, now)) })
    }
    return { target, clock: clockOf(advance) }
  })

/** A server for programs that have the clock of this machine, until the scope closes. */
export const serving = (style: Style, mode: Mode, fault?: Faults.Fault) =>
  Effect.map(starting(style, mode, fault), ({ target }): Conformance.Target => ({ ...target, spacing: 0 }))
