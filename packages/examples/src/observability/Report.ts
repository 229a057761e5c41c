/** Formats the data that a collector received, for a terminal. */
import Table from "cli-table3"
import { Array as Arr, Number as Num, Option, Order } from "effect"
import type { Received } from "./Collector.ts"
import * as OtlpJson from "./OtlpJson.ts"

/** Attributes that the exporter adds to a failed span. Its status already marks the failure. */
const exporterAttributes = ["span.label", "status.interrupted", "code.stacktrace"]

const keyValues = (attributes: ReadonlyMap<string, string>) =>
  Array.from(attributes)
    .filter(([key]) => !exporterAttributes.includes(key))
    .map(([key, value]) => ` ${key}=${value}`)
    .join("")

const millis = ({ endTimeUnixNano, startTimeUnixNano }: OtlpJson.Span) =>
  `${Number((endTimeUnixNano - startTimeUnixNano) / 1_000_000n)} ms`

/** Formats each span below its parent, in order of the start time. A link shows the name and id of its target. */
export const spanTree = (spans: ReadonlyArray<OtlpJson.Span>): string => {
  const sorted = Arr.sortWith(spans, ({ startTimeUnixNano }) => startTimeUnixNano, Order.bigint)
  const nameOf = (id: string) => sorted.find(({ spanId }) => spanId === id)?.name ?? id
  const lines = (siblings: ReadonlyArray<OtlpJson.Span>, indent: string): ReadonlyArray<string> =>
    siblings.flatMap((span) => {
      const links = span.links.map(({ spanId }) => ` → ${nameOf(spanId)} ${spanId.slice(0, 4)}`).join("")
      const id = span.name === "TokenProvider.acquire" ? ` ${span.spanId.slice(0, 4)}` : ""
      const failure = span.status.code === 2 ? " ✗" : ""
      const children = sorted.filter(({ parentSpanId }) => parentSpanId === span.spanId)
      return [
        `${indent}${span.name}${id}${failure}${keyValues(span.attributes)} (${millis(span)})${links}`,
        ...lines(children, `${indent}  `)
      ]
    })
  return lines(sorted.filter((span) => Option.isNone(OtlpJson.parentOf(sorted, span))), "").join("\n")
}

const rounded = (value: number | undefined) => String(Num.round(value ?? 0, 3))

/** Formats one row for each `idv_` metric and set of labels. Omits the fiber metrics of Effect. */
export const metricsTable = (metrics: ReadonlyArray<OtlpJson.Metric>): string => {
  const table = new Table({ head: ["Metric", "Labels", "Value"], style: { head: [], border: [], compact: true } })
  for (const { histogram, name, sum } of metrics.filter(({ name }) => name.startsWith("idv_"))) {
    for (const { asDouble, asInt, attributes } of sum?.dataPoints ?? []) {
      table.push([name, keyValues(attributes).trim(), rounded(asDouble ?? asInt)])
    }
    for (const { attributes, count, sum } of histogram?.dataPoints ?? []) {
      table.push([name, keyValues(attributes).trim(), `count ${count}, sum ${rounded(sum)}`])
    }
  }
  return table.toString()
}

/** Formats the span tree, the metrics and the first log records. */
export const make = ({ logs, metrics, spans }: Received): string =>
  [
    `${spans.length} spans:`,
    spanTree(spans),
    "",
    "Metrics:",
    metricsTable(metrics),
    "",
    `${logs.length} log records, for example:`,
    ...logs.slice(0, 2).map(({ attributes, body, severityText }) =>
      `${severityText} ${body.stringValue ?? ""}${keyValues(attributes)}`
    )
  ].join("\n")
