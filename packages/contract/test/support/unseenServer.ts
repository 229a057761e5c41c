/**
 * The servers of a folder such as `test/unseen`, whose author wrote them from the service document without seeing the
 * suite. Each becomes a target whose clock can be moved.
 */
import { Effect, Redacted } from "effect"
import type * as Conformance from "../../src/Conformance.ts"

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
  /** @default the styles of `test/unseen` */
  readonly styles?: ReadonlyArray<string>
}

/** What its `mutants.ts` exports. A mutant is the server in the style `strict` with a fault. */
interface Mutants {
  readonly mutants: ReadonlyArray<{ readonly id: string; readonly area: string }>
}

/** The styles of the correct server. They refuse a request in different ways, and `lenient` accepts more. */
const defaultStyles = ["strict", "ok-false", "five-hundred", "hang-up", "lenient"]

export interface UnseenSet {
  readonly styles: ReadonlyArray<string>
  readonly mutants: Mutants["mutants"]
  readonly serve: Service["serve"]
}

export const load = (folder = "unseen"): Effect.Effect<UnseenSet> =>
  Effect.gen(function*() {
    const file = (name: string) => new URL(`../${folder}/${name}.ts`, import.meta.url).href
    const { serve, styles = defaultStyles } = yield* Effect.promise((): Promise<Service> => import(file("service")))
    const { mutants } = yield* Effect.promise((): Promise<Mutants> => import(file("mutants")))
    return { styles, mutants, serve }
  })

/** A correct server, or one with this fault, until the scope closes. */
export const serving = ({ serve }: UnseenSet, style: string, fault?: string) =>
  Effect.gen(function*() {
    let moved = 0
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => serve({ style, now: () => Date.now() + moved, ...(fault === undefined ? {} : { fault }) })),
      ({ close }) => Effect.promise(() => close())
    )
    const target: Conformance.Target = {
      kind: "sandbox",
      authUrl: server.url,
      baseUrl: server.url,
      customerId: server.customerId,
      customerKey: Redacted.make(server.customerKey),
      budget: 100_000,
      spacing: 0,
      deadline: "5 seconds",
      clock: (millis: number) => Effect.sync(() => void (moved += millis)),
      wrongKeys: true
    }
    return target
  })
