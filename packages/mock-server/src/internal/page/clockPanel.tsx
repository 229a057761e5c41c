/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The clock of a session, and the buttons that move it. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as SessionOptions from "../operations/sessionOptions.ts"
import { errorAttributes, FieldError, Form, Panel, typed } from "./components.tsx"
import type { InvalidForm } from "./forms.ts"
import type { ClockState, SessionState } from "./pageModel.ts"

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

/** A button that changes one field of the clock. */
const Change = ({ field, label, value }: Readonly<Record<"field" | "label" | "value", string>>) => (
  <button type="submit" name={field} value={value}>{label}</button>
)

/** The options that have one value in one line, which the form can change. */
const lineOptions = SessionOptions.changeable.filter(({ flag }) => Option.exists(flag, ({ isRepeated }) => !isRepeated))

const OptionsForm = ({ invalid, options, path }: Pick<Properties, "invalid" | "options" | "path">) => {
  const shown = new Map<string, unknown>(Object.entries(options))
  return (
    <Form action={`${path}/options`} panel="clock" class="fields" label="Options of the session">
      {lineOptions.map(({ help, name }) => {
        const id = `option-${name}`
        return (
          <div class="field" key={name}>
            <label for={id}>{help}</label>
            <input
              id={id}
              name={name}
              autocomplete="off"
              spellcheck={false}
              value={typed(invalid)[name] ?? String(shown.get(name))}
              {...errorAttributes(id, name, invalid)}
            />
            <FieldError id={id} field={name} invalid={invalid} />
          </div>
        )
      })}
      <button type="submit">Change</button>
    </Form>
  )
}

interface Properties {
  readonly path: string
  readonly clock: ClockState
  readonly options: SessionState["options"]
  readonly invalid: InvalidForm | undefined
}

export const ClockPanel = ({ clock, invalid, options, path }: Properties) => {
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
        <Change field="advance" value="1 minute" label="+1 min" />
        <Change field="advance" value="61 minutes" label="+61 min" />
        <Change field="advance" value="2 hours" label="+2 h" />
        {clock.frozen
          ? <Change field="frozen" value="false" label="Resume" />
          : <Change field="frozen" value="true" label="Freeze" />}
        <Change field="real" value="true" label="Back to real time" />
      </Form>
      <OptionsForm path={path} options={options} invalid={invalid} />
      <form method="post" action={`${path}/reset`}>
        <button type="submit">Reset the session</button>
      </form>
    </Panel>
  )
}
