/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The clock of a session, and the buttons that move it. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { Form } from "./components.tsx"
import type { ClockState, State } from "./pageModel.ts"

const isoOf = (now: number): string =>
  Option.match(DateTime.make(now), { onNone: () => "out of range", onSome: DateTime.formatIso })

const realTime = "real time"

/** A difference below a second counts as none, because the two clocks are read one after the other. */
export const description = ({ ahead, frozen }: ClockState): string => {
  if (frozen) return "frozen"
  const seconds = Math.round(Math.abs(ahead) / 1000)
  return seconds === 0
    ? realTime
    : `${Duration.format(Duration.seconds(seconds))} ${ahead > 0 ? "ahead of" : "behind"} ${realTime}`
}

/** A button that changes one field of the clock. */
const Change = ({ field, label, value }: Readonly<Record<"field" | "label" | "value", string>>) => (
  <button type="submit" class="small" name={field} value={value}>{label}</button>
)

export const ClockPanel = ({ clock, page: { path } }: State) => {
  const iso = isoOf(clock.now)
  return (
    <section id="clock" aria-labelledby="clock-title">
      <h2 id="clock-title" class="hidden" tabIndex={-1}>Clock</h2>
      <p class="now">
        <time
          id="now"
          dateTime={iso}
          data-now={String(Math.round(clock.now))}
          data-frozen={clock.frozen ? "true" : undefined}
        >
          {iso.slice(0, 19).replace("T", " ")}
        </time>{" "}
        <span class={description(clock) === realTime ? "muted real" : "muted"}>UTC, {description(clock)}</span>
      </p>
      <Form action={`${path}/clock`} panel="clock" class="buttons" label="Move the clock">
        <Change field="advance" value="1 minute" label="+1 min" />
        <Change field="advance" value="61 minutes" label="+61 min" />
        <Change field="advance" value="2 hours" label="+2 h" />
        {clock.frozen
          ? <Change field="frozen" value="false" label="Resume" />
          : <Change field="frozen" value="true" label="Freeze" />}
        {description(clock) !== realTime && <Change field="real" value="true" label="Real time" />}
      </Form>
    </section>
  )
}
