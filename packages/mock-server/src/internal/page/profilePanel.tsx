/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The profile of a session: each unspecified behaviour, the level of its default, and the choice of the session. */
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import * as Profile from "../../Profile.ts"
import * as SessionOptions from "../operations/sessionOptions.ts"
import { Badge, errorAttributes, FieldError, Form, Panel, typed } from "./components.tsx"
import type { InvalidForm } from "./forms.ts"
import type { SessionState } from "./pageModel.ts"

const levels: Record<Profile.Level, string> = {
  documented: "the service document says it",
  observed: "the service does it",
  assumed: "a standard or custom supports it",
  unknown: "nothing supports it"
}

const Point = (
  { invalid, point: { level, name, question, variants }, value }: {
    readonly point: Profile.Point
    readonly value: string
    readonly invalid: InvalidForm | undefined
  }
) => {
  const id = `profile-${name}`
  return (
    <tr class={value === variants[0].value ? "" : "changed"}>
      <th scope="row">
        <label for={id}>{question}</label>
        <span class="mono muted">{name}</span>
      </th>
      <td>
        <Badge kind={level}>{level}</Badge>
      </td>
      <td>
        <select id={id} name={name} {...errorAttributes(id, name, invalid)}>
          {variants.map((variant) => (
            <option value={variant.value} selected={variant.value === value} key={variant.value}>
              {variant.description}
              {variant.client === "refuses" ? " – the client rejects it" : ""}
            </option>
          ))}
        </select>
        <FieldError id={id} field={name} invalid={invalid} />
      </td>
    </tr>
  )
}

interface Properties {
  readonly path: string
  readonly options: SessionState["options"]
  readonly invalid?: InvalidForm | undefined
}

/** The options that have one value in one line, which the form can change. */
const lineOptions = SessionOptions.changeable.filter(({ flag }) => Option.exists(flag, ({ isRepeated }) => !isRepeated))

const OptionsForm = ({ invalid, options, path }: Properties) => {
  const shown = new Map<string, unknown>(Object.entries(options))
  return (
    <Form action={`${path}/options`} panel="profile" class="fields" label="Options of the session">
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

export const ProfilePanel = ({ invalid, options, path }: Properties) => (
  <Panel
    id="profile"
    title="Profile"
    note={<span class="muted">behaviour that the service document leaves unspecified</span>}
  >
    <div class="toolbar">
      <Form action={`${path}/profile`} panel="profile" class="buttons" label="Presets">
        {Struct.keys(Profile.presets).map((preset) => (
          <button type="submit" name="preset" value={preset} key={preset}>{preset}</button>
        ))}
      </Form>
    </div>
    <FieldError id="profile-preset" field="preset" invalid={invalid} />
    <Form action={`${path}/profile`} panel="profile" label="Profile">
      <table class="profile">
        <caption class="hidden">The options of the profile</caption>
        <thead>
          <tr>
            <th scope="col">Question</th>
            <th scope="col">Level</th>
            <th scope="col">This session</th>
          </tr>
        </thead>
        <tbody>
          {Profile.points.map((point) => (
            <Point
              point={point}
              value={typed(invalid)[point.name] ?? options.profile[point.name]}
              invalid={invalid}
              key={point.name}
            />
          ))}
        </tbody>
      </table>
      <div class="apply">
        <button type="submit" class="primary">Apply the profile</button>
      </div>
    </Form>
    <dl class="legend">
      {Struct.entries(levels).map(([level, meaning]) => (
        <div key={level}>
          <dt>
            <Badge kind={level}>{level}</Badge>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
    <OptionsForm path={path} options={options} invalid={invalid} />
    <form method="post" action={`${path}/reset`} class="fields">
      <button type="submit">Reset the session</button>
    </form>
  </Panel>
)
