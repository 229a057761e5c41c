/**
 * The sets of servers whose authors knew the service document, and not the suite. A set has a correct server in several
 * styles, and wrong servers: the server `strict` with one fault each.
 */
import type { Conformance } from "@effect-idv/contract"
import { Effect, Redacted } from "effect"

export const names = ["set1", "set2", "set3"] as const
export type Name = typeof names[number]

/** `mock`: a server whose clock the suite moves, with any number of requests. `sandbox`: what a user runs by default. */
export const modes = ["mock", "sandbox"] as const
export type Mode = typeof modes[number]

interface Server {
  readonly url: string
  readonly customerId: string
  readonly customerKey: string
  readonly close: () => Promise<void>
}

/** What the folder's `service.ts` exports. */
interface Service {
  readonly serve: (options: {
    readonly style: string
    readonly now: () => number
    readonly fault?: string
  }) => Promise<Server>
  /** @default the styles of set1 */
  readonly styles?: ReadonlyArray<string>
}

/** What its `mutants.ts` exports. */
interface Mutants {
  readonly mutants: ReadonlyArray<{ readonly id: string; readonly area: string }>
}

/** They refuse a request in different ways, and `lenient` accepts more. */
const defaultStyles = ["strict", "ok-false", "five-hundred", "hang-up", "lenient"]

export interface ServiceSet {
  readonly styles: ReadonlyArray<string>
  readonly mutants: Mutants["mutants"]
  readonly serve: Service["serve"]
}

export const load = (name: Name): Effect.Effect<ServiceSet> =>
  Effect.gen(function*() {
    const file = (module: string) => new URL(`${name}/${module}.ts`, import.meta.url).href
    const { serve, styles = defaultStyles } = yield* Effect.promise((): Promise<Service> => import(file("service")))
    const { mutants } = yield* Effect.promise((): Promise<Mutants> => import(file("mutants")))
    return { styles, mutants, serve }
  })

/** A correct server, or one with this fault, until the scope closes. */
export const serving = ({ serve }: ServiceSet, style: string, mode: Mode, fault?: string) =>
  Effect.gen(function*() {
    let moved = 0
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => serve({ style, now: () => Date.now() + moved, ...(fault !== undefined && { fault }) })),
      ({ close }) => Effect.promise(() => close())
    )
    const target: Conformance.Target = {
      kind: "sandbox",
      authUrl: server.url,
      baseUrl: server.url,
      customerId: server.customerId,
      customerKey: Redacted.make(server.customerKey),
      spacing: 0,
      ...(mode === "mock" && {
        budget: 100_000,
        wrongKeys: true,
        clock: (millis: number) => Effect.sync(() => void (moved += millis))
      })
    }
    return target
  })
