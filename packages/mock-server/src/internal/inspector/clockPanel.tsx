/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The clock of a session, and the buttons that move it. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { Form, Panel } from "./components.tsx"
import type { ClockState } from "./pageModel.ts"

const isoOf = (now: number): string =>
  Option.match(DateTime.make(now), { onNone: () => "out of range", onSome: DateTime.formatIso })

/** A difference below a second counts as none, because the two clocks are read one after the other. */
export const description = ({ ahead, frozen }: ClockState): string => {
  if (frozen) return "frozen"
  const seconds = Math.round(Math.abs(ahead) / 1000)
  return seconds === 0
    ? "real time"
    : `${Duration.format(Duration.seconds(seconds))} ${ahead > 0 ? "ahead of" : "behind"} real time`
}

const Move = ({ label, move }: { readonly move: string; readonly label: string }) => (
  <button type="submit" name="move" value={move}>{label}</button>
)

export const ClockPanel = ({ clock, path }: { readonly path: string; readonly clock: ClockState }) => {
  const iso = isoOf(clock.now)
  return (
    <Panel id="clock" title="Clock">
      <p class="now">
        <time
          id="now"
          dateTime={iso}
          data-now={String(Math.round(clock.now))}
          data-frozen={clock.frozen ? "true" : undefined}
        >
          {iso.slice(0, 19).replace("T", " ")}
        </time>{" "}
        UTC
        <span class="muted">{description(clock)}</span>
      </p>
      <Form action={`${path}/clock`} panel="clock" class="buttons" label="Move the clock">
        <Move move="1 minute" label="+1 min" />
        <Move move="61 minutes" label="+61 min" />
        <Move move="2 hours" label="+2 h" />
        {clock.frozen ? <Move move="resume" label="Resume" /> : <Move move="freeze" label="Freeze" />}
        <Move move="real" label="Back to real time" />
      </Form>
    </Panel>
  )
}
