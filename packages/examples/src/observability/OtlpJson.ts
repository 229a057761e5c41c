/** Schemas of the parts of OTLP/HTTP JSON that this example reads. */
import { Option, Schema } from "effect"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** OTLP may encode a 64-bit integer as a string. */
const Int64 = Schema.Union(Schema.NumberFromString, Schema.Number)

const Value = Schema.Struct({
  stringValue: optional(Schema.String),
  boolValue: optional(Schema.Boolean),
  intValue: optional(Int64),
  doubleValue: optional(Schema.Number)
})

/** Attribute values by key, as strings. */
export const Attributes = Schema.transform(
  Schema.Array(Schema.Struct({ key: Schema.String, value: Value })),
  Schema.ReadonlyMap({ key: Schema.String, value: Schema.String }).pipe(Schema.typeSchema),
  {
    strict: true,
    decode: (pairs) =>
      new Map(
        pairs.map(({ key, value }) =>
          [key, String(value.stringValue ?? value.boolValue ?? value.intValue ?? value.doubleValue)] as const
        )
      ),
    encode: (map) => Array.from(map, ([key, stringValue]) => ({ key, value: { stringValue } }))
  }
)

const none: ReadonlyMap<string, string> = new Map()
const withAttributes = { attributes: Schema.optionalWith(Attributes, { exact: true, default: () => none }) }
const Resource = Schema.Struct(withAttributes)

export const Span = Schema.Struct({
  ...withAttributes,
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: optional(Schema.String),
  name: Schema.String,
  startTimeUnixNano: Schema.BigInt,
  endTimeUnixNano: Schema.BigInt,
  links: Schema.optionalWith(Schema.Array(Schema.Struct({ traceId: Schema.String, spanId: Schema.String })), {
    exact: true,
    default: () => []
  }),
  status: Schema.Struct({ code: optional(Schema.Int), message: optional(Schema.String) })
})

export interface Span extends Schema.Schema.Type<typeof Span> {}

export const Traces = Schema.Struct({
  resourceSpans: Schema.Array(Schema.Struct({
    resource: Resource,
    scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) }))
  }))
})

const NumberPoint = Schema.Struct({ ...withAttributes, asDouble: optional(Schema.Number), asInt: optional(Int64) })

const HistogramPoint = Schema.Struct({
  ...withAttributes,
  count: Int64,
  sum: optional(Schema.Number),
  explicitBounds: Schema.Array(Schema.Number),
  bucketCounts: Schema.Array(Int64)
})

/** A counter or a histogram. Other kinds are ignored. */
export const Metric = Schema.Struct({
  name: Schema.String,
  sum: optional(Schema.Struct({ isMonotonic: optional(Schema.Boolean), dataPoints: Schema.Array(NumberPoint) })),
  histogram: optional(Schema.Struct({ dataPoints: Schema.Array(HistogramPoint) }))
})

export interface Metric extends Schema.Schema.Type<typeof Metric> {}

export const Metrics = Schema.Struct({
  resourceMetrics: Schema.Array(Schema.Struct({
    resource: Resource,
    scopeMetrics: Schema.Array(Schema.Struct({ metrics: Schema.Array(Metric) }))
  }))
})

export const LogRecord = Schema.Struct({
  ...withAttributes,
  severityText: Schema.String,
  body: Value,
  traceId: optional(Schema.String),
  spanId: optional(Schema.String)
})

export interface LogRecord extends Schema.Schema.Type<typeof LogRecord> {}

export const Logs = Schema.Struct({
  resourceLogs: Schema.Array(Schema.Struct({
    resource: Resource,
    scopeLogs: Schema.Array(Schema.Struct({ logRecords: Schema.Array(LogRecord) }))
  }))
})

export const spans = ({ resourceSpans }: typeof Traces.Type): ReadonlyArray<Span> =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

export const metrics = ({ resourceMetrics }: typeof Metrics.Type): ReadonlyArray<Metric> =>
  resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))

export const logRecords = ({ resourceLogs }: typeof Logs.Type): ReadonlyArray<LogRecord> =>
  resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))

/** Returns the parent if it is one of these spans. */
export const parentOf = (spans: ReadonlyArray<Span>, { parentSpanId }: Span): Option.Option<Span> =>
  Option.fromNullable(spans.find(({ spanId }) => spanId === parentSpanId))
