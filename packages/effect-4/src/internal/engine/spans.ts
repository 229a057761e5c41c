/** Makes the spans of the engine in the tracer of Effect 4. */
import type * as Context3 from "effect-3/Context"
import * as Option3 from "effect-3/Option"
import * as Tracer3 from "effect-3/Tracer"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as Causes from "./causes.ts"
import * as Values from "./values.ts"

/** The span of Effect 4 for each span that the engine knows. */
const counterparts = new WeakMap<Tracer3.AnySpan, Tracer.AnySpan>()

/** The span of Effect 4 behind a span of the engine. */
export const toSpan = (span: Tracer3.AnySpan): Tracer.AnySpan => counterparts.get(span) ?? Tracer.externalSpan(span)

/** A span of Effect 4, as a parent of spans of the engine. */
export const fromSpan = (span: Tracer.AnySpan): Tracer3.ExternalSpan => {
  const parent = Tracer3.externalSpan({ spanId: span.spanId, traceId: span.traceId, sampled: span.sampled })
  counterparts.set(parent, span)
  return parent
}

/** A span of the engine. All it records goes to a span of Effect 4. */
class EngineSpan implements Tracer3.Span {
  readonly _tag = "Span"
  readonly #span: Tracer.Span
  readonly parent: Option3.Option<Tracer3.AnySpan>
  readonly context: Context3.Context<never>
  readonly kind: Tracer3.SpanKind
  readonly links: Array<Tracer3.SpanLink>
  status: Tracer3.SpanStatus

  constructor(
    span: Tracer.Span,
    engine: Pick<Tracer3.Span, "parent" | "context" | "kind"> & {
      readonly links: ReadonlyArray<Tracer3.SpanLink>
      readonly startTime: bigint
    }
  ) {
    this.#span = span
    this.parent = engine.parent
    this.context = engine.context
    this.kind = engine.kind
    this.links = [...engine.links]
    this.status = { _tag: "Started", startTime: engine.startTime }
    counterparts.set(this, span)
  }
  get name() {
    return this.#span.name
  }
  get spanId() {
    return this.#span.spanId
  }
  get traceId() {
    return this.#span.traceId
  }
  get sampled() {
    return this.#span.sampled
  }
  get attributes() {
    return this.#span.attributes
  }
  end(endTime: bigint, exit: Parameters<Tracer3.Span["end"]>[1]): void {
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    this.#span.end(endTime, Causes.toSpanExit(exit))
  }
  attribute(key: string, value: unknown): void {
    this.#span.attribute(key, Values.unknown(value))
  }
  event(name: string, startTime: bigint, attributes: Record<string, unknown> = {}): void {
    const entries = Object.entries(attributes).map(([key, value]) => [key, Values.unknown(value)])
    this.#span.event(name, startTime, Object.fromEntries(entries))
  }
  addLinks(links: ReadonlyArray<Tracer3.SpanLink>): void {
    for (const link of links) this.links.push(link)
    this.#span.addLinks(links.map(toLink))
  }
}

const toLink = ({ attributes, span }: Tracer3.SpanLink): Tracer.SpanLink => ({ span: toSpan(span), attributes })

/** The tracer of the engine that makes its spans in a tracer of Effect 4. */
export const fromTracer = (tracer: Tracer.Tracer): Tracer3.Tracer =>
  Tracer3.make({
    span: (name, parent, context, links, startTime, kind, options) =>
      new EngineSpan(
        tracer.span({
          name,
          parent: Option.map(Values.option(parent), toSpan),
          annotations: Context.empty(),
          links: links.map(toLink),
          startTime,
          kind,
          root: options?.root ?? false,
          sampled: Option3.match(parent, { onNone: () => true, onSome: ({ sampled }) => sampled })
        }),
        { parent, context, kind, links, startTime }
      ),
    context: (execute) => execute()
  })
