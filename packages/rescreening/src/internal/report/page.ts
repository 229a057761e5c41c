/** The report as an HTML page without scripts. */
import escapeHtml from "escape-html"
import type * as Comparison from "../../Comparison.ts"
import * as Run from "../../Run.ts"

export type Review = "sent_again" | "late" | "potential_match" | "no_match_doubtful" | "unknown" | "not_screened"

export interface Listed {
  readonly id: string
  readonly checkId: string
  readonly decision: string
  readonly note: string
}

/** A person whose result changed. */
export interface Changed {
  readonly id: string
  readonly before: Run.State | ""
  readonly after: Run.State | ""
}

export type ChangeKind = Exclude<Comparison.Kind, "unchanged">

/** The changes since an earlier run: how many, and the first ones of each kind. */
export interface Changes {
  readonly since: string
  readonly counts: { readonly [K in Comparison.Kind]: number }
  readonly listed: { readonly [K in ChangeKind]: ReadonlyArray<Changed> }
  /** They have no key, so they are not compared. */
  readonly wrongRows: { readonly before: number; readonly after: number }
}

/** How many results need a reviewer, by what is missing. */
export interface ToDo {
  readonly undecided: number
  readonly review_again: number
  readonly awaiting_approval: number
}

export type Reviews = { readonly [R in Review]: Array<Listed> }

export const isReview = (state: Run.State): state is Exclude<Review, "sent_again" | "late"> => state in headings

export interface Model {
  readonly run: string
  readonly service: string
  readonly state: Run.Run["state"]
  readonly digest: string
  readonly plannedAt: string
  readonly completedAt: string
  /** The results that arrived after the run was complete, or after their row was claimed again. */
  readonly amended: number
  readonly counts: Run.Counts
  readonly toDo: ToDo
  readonly doubtful: ReadonlyArray<{ readonly from: string; readonly to: string; readonly count: number }>
  readonly controls: string
  readonly undocumented: ReadonlyArray<string>
  readonly reviewCounts: { readonly [R in Review]: number }
  readonly timesSent: number
  readonly rate: number
  readonly perSecond: ReadonlyArray<{ readonly bucket: number; readonly count: number }>
  readonly reviews: Reviews
  readonly showsKeys: boolean
  readonly changes: Changes | undefined
}

const headings = {
  sent_again: "Sent again after they were unknown: may have been billed twice",
  late: "Another result arrived after the row was screened again",
  potential_match: "Potential matches",
  no_match_doubtful: "No match for a name or date that looks damaged",
  unknown: "Unknown: sent, no response; may be billed",
  not_screened: "Not screened: no result"
} as const satisfies Record<Review, string>

export const changeHeadings = {
  newly_matched: "Newly matched",
  no_longer_matched: "No longer matched",
  newly_unknown: "No result any more",
  no_longer_unknown: "A result again",
  new_in_population: "New in the population",
  gone_from_population: "Gone from the population",
  evidence_changed: "The same result with other evidence"
} as const satisfies Record<ChangeKind, string>

const words: Record<Run.State, string> = {
  no_match: "No match",
  no_match_doubtful: "No match for a name or date that looks damaged",
  potential_match: "Potential match",
  control_failed: "No, but the service did not find a control at that time: screen these people again",
  not_screened: "Not screened: there is no result",
  unknown: "Unknown: sent, no response; may be billed",
  wrong_row: "Wrong rows: not sent",
  erased: "Erased on request",
  pending: "Pending: not sent yet",
  claimed: "Claimed by a worker: not sent yet",
  sent: "Sent: waiting for the response"
}

const number = (value: number) => value.toLocaleString("en")

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>) =>
  `<table><thead><tr>${head.map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join("")}</tr></thead><tbody>${
    rows.map((row) =>
      `<tr>${
        row.map((cell) =>
          typeof cell === "number" ? `<td class="number">${number(cell)}</td>` : `<td>${escapeHtml(cell)}</td>`
        ).join("")
      }</tr>`
    ).join("\n")
  }</tbody></table>`

const columns = 200

/** Draws the average rate in at most `columns` equal spans. */
const chart = ({ perSecond, rate }: Model): string => {
  const first = perSecond[0]?.bucket
  const last = perSecond.at(-1)?.bucket
  if (first === undefined || last === undefined) return "<p>Nothing was sent yet.</p>"
  const seconds = (last - first) / 1000 + 1
  const span = Math.max(1, Math.ceil(seconds / columns))
  const sums = new Array<number>(Math.ceil(seconds / span)).fill(0)
  for (const { bucket, count } of perSecond) {
    const index = Math.floor((bucket - first) / 1000 / span)
    sums[index] = (sums[index] ?? 0) + count
  }
  const most = Math.max(1, ...sums.map((sum) => sum / span))
  const width = 100 / sums.length
  const bars = sums.map((sum, index) => {
    const height = 100 * sum / span / most
    return `<rect x="${(index * width).toFixed(2)}" y="${(100 - height).toFixed(2)}" width="${
      (width * 0.9).toFixed(2)
    }" height="${height.toFixed(2)}"/>`
  })
  const label = `Checks sent per second, from ${new Date(first).toISOString()} to ${new Date(last).toISOString()}`
  return `<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="${label}">${bars.join("")}</svg>
<p>${escapeHtml(label)}; ${number(Math.round(most * 10) / 10)} at most, ${number(rate)} allowed.
This chart shows only the last check of each row.</p>`
}

const review = ({ reviewCounts, reviews, showsKeys }: Model, state: Review): string => {
  const count = reviewCounts[state]
  if (count === 0) return ""
  const heading = `<h2>${headings[state]} (${number(count)})</h2>`
  if (!showsKeys) return `${heading}<p>The policy of this run shows no keys here. The CSV has them.</p>`
  const listed = reviews[state]
  const more = listed.length < count ? `<p>The first ${number(listed.length)}. The CSV has all.</p>` : ""
  return `${heading}${more}${
    table(
      ["Key", "Check", "Note", "Decision"],
      listed.map(({ checkId, decision, id, note }) => [id, checkId, note, decision])
    )
  }`
}

const kinds = Object.keys(changeHeadings) as Array<ChangeKind>

const changesSection = ({ changes, showsKeys }: Model): string => {
  if (changes === undefined) return ""
  const { counts, listed, since, wrongRows } = changes
  const sums = [
    ...kinds.map((kind) => [changeHeadings[kind], counts[kind]]),
    ["Unchanged", counts.unchanged],
    ...(wrongRows.before === 0 ? [] : [["Wrong rows before: may be people who seem new", wrongRows.before]]),
    ...(wrongRows.after === 0 ? [] : [["Wrong rows now: may be people who seem gone", wrongRows.after]])
  ]
  const lists = kinds.filter((kind) => showsKeys && counts[kind] > 0).map((kind) => {
    const shown = listed[kind]
    const more = shown.length < counts[kind] ? `<p>The first ${number(shown.length)}. compare lists all.</p>` : ""
    return `<h3>${changeHeadings[kind]} (${number(counts[kind])})</h3>${more}${
      table(["Key", "Before", "Now"], shown.map(({ after, before, id }) => [id, before, after]))
    }`
  })
  return `<h2>Changes since ${escapeHtml(since)}</h2>${table(["Change", "People"], sums)}${lists.join("\n")}`
}

/** What a person must do about this run, each with the command that does it. */
const toDoSection = ({ changes, counts, doubtful, reviewCounts, run, state, toDo, undocumented }: Model): string => {
  const matches = `idv-rescreen matches --run ${run} --reviewer <name>, then decide`
  const again = (outcome: string) => `idv-rescreen resume --run ${run} --again ${outcome}, then start work`
  const all: ReadonlyArray<readonly [text: string, count: number, command: string]> = [
    ...doubtful.map(({ count, from, to }) =>
      [
        "\"No\" while the service did not find a control: screen these people again",
        count,
        `idv-rescreen plan --run <name> --from-sent ${from}..${to} < people.csv`
      ] as const
    ),
    ["Results to decide about", toDo.undecided, matches],
    ["Results to decide about again: other evidence, or an old decision", toDo.review_again, matches],
    [
      "Decisions that another person must approve",
      toDo.awaiting_approval,
      `idv-rescreen decide --approve --run ${run} --reviewer <name> < decisions.csv`
    ],
    ["Results that arrived after the row was screened again", reviewCounts.late, matches],
    [
      "Unknown rows: screen them again, which may be billed twice",
      counts.unknown,
      again("unknown")
    ],
    ["Rows without a result", counts.not_screened, again("not_screened")],
    ["Wrong rows: correct the file", counts.wrong_row, "See the codes in the CSV"],
    ["People who are no longer a match", changes?.counts.no_longer_matched ?? 0, "See the changes below"]
  ]
  const changed = undocumented.length === 0 ?
    "" :
    `<p>The responses have undocumented parts: ${
      escapeHtml(undocumented.join(", "))
    }. Check whether the client needs them.</p>`
  const rows = all.filter(([, count]) => count > 0).map(([text, count, command]) => [text, count, command])
  const open = state === "complete" ? "" : "<p>The run is not complete: start workers, or resume it.</p>"
  return `<h2>To do</h2>${open}${changed}${
    rows.length === 0 ? "<p>No result needs a person.</p>" : table(["What", "Number", "How"], rows)
  }`
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse }
th, td { text-align: left; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid #8884; overflow-wrap: anywhere }
th, .number { overflow-wrap: normal; white-space: nowrap }
.number { text-align: right; font-variant-numeric: tabular-nums }
svg { width: 100%; height: 8rem; background: #8882; fill: #2a6fbb }
`

export const render = (model: Model): string => {
  const { amended, completedAt, controls, counts, digest, plannedAt, reviewCounts, run, service, state, timesSent } =
    model
  const shown = Run.State.literals.filter((state) =>
    counts[state] > 0 || !["control_failed", "erased", "pending", "claimed", "sent"].includes(state)
  )
  const outcomes = [
    ...shown.map((state) => [words[state], counts[state]]),
    ["In all", Run.total(counts)]
  ]
  const facts = [
    ["State", state],
    ["Service", service],
    ["Planned", plannedAt],
    ["Complete", completedAt === "" ? "no" : completedAt],
    ["Digest of the population", digest],
    ["Results that arrived after the run was complete or the row was screened again", number(amended)],
    ["Checks sent, without those of controls", number(timesSent)],
    ["Controls", controls],
    ["Rows sent again after they were unknown", number(reviewCounts.sent_again)]
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Rescreening ${escapeHtml(run)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Rescreening ${escapeHtml(run)}</h1>
${toDoSection(model)}
<h2>Outcomes</h2>
${table(["Outcome", "Rows"], outcomes)}
${changesSection(model)}
<h2>Run</h2>
${table(["Fact", "Value"], facts)}
<h2>Rate</h2>
${chart(model)}
${(Object.keys(headings) as Array<Review>).map((state) => review(model, state)).join("\n")}
</main>
</body>
</html>
`
}
