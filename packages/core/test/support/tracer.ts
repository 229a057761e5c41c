/** A tracer that keeps its spans. */
import { Option, Tracer } from "effect"

export interface RecordedSpan extends Tracer.Span {
  readonly attributes: Map<string, unknown>
  readonly links: Array<Tracer.SpanLink>
  readonly events: Array<readonly [string, unknown]>
  exit: unknown
}

export const make = () => {
  const spans: Array<RecordedSpan> = []
  const tracer = Tracer.make({
    context: (f) => f(),
    span: (name, parent, context, links, startTime, kind, options) => {
      const span: RecordedSpan = {
        _tag: "Span",
        name,
        spanId: String(spans.length),
        traceId: Option.match(parent, { onNone: () => String(spans.length), onSome: ({ traceId }) => traceId }),
        parent,
        context,
        links: [...links],
        kind,
        status: { _tag: "Started", startTime },
        sampled: true,
        attributes: new Map(Object.entries(options?.attributes ?? {})),
        events: [],
        exit: undefined,
        attribute: (key, value) => {
          span.attributes.set(key, value)
        },
        event: (name, _, attributes) => {
          span.events.push([name, attributes])
        },
        addLinks: (links) => {
          for (const link of links) span.links.push(link)
        },
        end: (_, exit) => {
          span.exit = exit
        }
      }
      spans.push(span)
      return span
    }
  })
  return { tracer, spans }
}
