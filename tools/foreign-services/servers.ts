/**
 * The sets of servers whose authors knew the service document, and not the suite. A set has a correct server in several
 * styles, and wrong servers: the server `strict` with one fault each.
 */
import type { Conformance } from "@effect-idv/contract"
import { Effect, Redacted } from "effect"
import type { Changes } from "./changes.ts"
import * as Faults from "./faults.ts"
import { serve } from "./http.ts"
import { make, type Style } from "./service.ts"
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

/** `mock`: a server whose clock the suite moves, with any number of requests. `sandbox`: what a user runs by default. */
export const modes = ["mock", "sandbox"] as const
export type Mode = typeof modes[number]

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

/** A server, until the scope closes. `mock` gives its clock to the suite. */
export const serving = (style: Style, mode: Mode, fault?: Faults.Fault) =>
  Effect.gen(function*() {
    let moved = 0
    const url = yield* serve(make(style, () => Date.now() + moved, fault?.change))
    const target: Conformance.Target = {
      kind: "sandbox",
      authUrl: url,
      baseUrl: url,
      customerId: style.customer.id,
      customerKey: Redacted.make(style.customer.key),
      spacing: 0,
      ...(mode === "mock" && {
        budget: 100_000,
        wrongKeys: true,
        clock: (millis: number) => Effect.sync(() => void (moved += millis))
      })
    }
    return target
  })
