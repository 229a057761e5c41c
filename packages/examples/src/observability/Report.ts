/** What a collector has received, for a terminal. */
import Table from "cli-table3"
import { Array as Arr, Number as Num, Option, Order } from "effect"
import type { Received } from "./Collector.ts"
import * as OtlpJson from "./OtlpJson.ts"

/** What the exporter adds to the span of a failure, which its status says already. */
const ofTheExporter = ["span.label", "status.interrupted", "code.stacktrace"]

const words = (attributes: ReadonlyMap<string, string>) =>
  Array.from(attributes)
    .filter(([key]) => !ofTheExporter.includes(key))
    .map(([key, value]) => ` ${key}=${value}`)
    .join("")

const millis = ({ endTimeUnixNano, startTimeUnixNano }: OtlpJson.Span) =>
  `${Number((endTimeUnixNano - startTimeUnixNano) / 1_000_000n)} ms`

/** Each span below its parent, in the order of their beginning; a link names the span that it leads to. */
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
        `${indent}${span.name}${id}${failure}${words(span.attributes)} (${millis(span)})${links}`,
        ...lines(children, `${indent}  `)
      ]
    })
  return lines(sorted.filter((span) => Option.isNone(OtlpJson.parentOf(sorted, span))), "").join("\n")
}

const rounded = (value: number | undefined) => String(Num.round(value ?? 0, 3))

/** A row for each metric of the library and each set of its labels. Effect counts its fibers beside them. */
export const metricsTable = (metrics: ReadonlyArray<OtlpJson.Metric>): string => {
  const table = new Table({ head: ["Metric", "Labels", "Value"], style: { head: [], border: [], compact: true } })
  for (const { histogram, name, sum } of metrics.filter(({ name }) => name.startsWith("idv_"))) {
    for (const { asDouble, asInt, attributes } of sum?.dataPoints ?? []) {
      table.push([name, words(attributes).trim(), rounded(asDouble ?? asInt)])
    }
    for (const { attributes, count, sum } of histogram?.dataPoints ?? []) {
      table.push([name, words(attributes).trim(), `${count} times, ${rounded(sum)} in all`])
    }
  }
  return table.toString()
}

/** Both, and the first lines of the log. */
export const make = ({ logs, metrics, spans }: Received): string =>
  [
    `${spans.length} spans:`,
    spanTree(spans),
    "",
    "Metrics:",
    metricsTable(metrics),
    "",
    `${logs.length} lines of the log, such as:`,
    ...logs.slice(0, 2).map(({ attributes, body, severityText }) =>
      `${severityText} ${body.stringValue ?? ""}${words(attributes)}`
    )
  ].join("\n")
