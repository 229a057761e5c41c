/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The profile of a session: each unspecified behaviour, the level of its default, and the choice of the session. */
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import * as Profile from "../../Profile.ts"
import * as SessionOptions from "../operations/sessionOptions.ts"
import { Badge, FieldError, Form, Panel, Select, Table, TextField } from "./components.tsx"
import type { SentForm } from "./forms.ts"
import type { State } from "./pageModel.ts"

const levels: Record<Profile.Level, string> = {
  documented: "the service document says it",
  observed: "the service does it",
  assumed: "a standard or custom supports it",
  unknown: "nothing supports it"
}

const Point = (
  { point: { level, name, question, variants }, sent, value }: {
    readonly point: Profile.Point
    readonly value: string
    readonly sent: SentForm | undefined
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
        <Select
          id={id}
          name={name}
          options={variants.map(({ client, description, value }) => ({
            value,
            text: client === "refuses" ? `${description} – the client rejects it` : description
          }))}
          selected={value}
          sent={sent}
        />
      </td>
    </tr>
  )
}

type Properties = Pick<State, "options" | "page"> & { readonly sent?: SentForm | undefined }

/** The options that have one value in one line, which the form can change. */
const lineOptions = SessionOptions.changeable.filter(({ flag }) => Option.exists(flag, ({ isRepeated }) => !isRepeated))

const OptionsForm = ({ options, page: { path }, sent }: Properties) => {
  const shown = new Map<string, unknown>(Object.entries(options))
  return (
    <Form action={`${path}/options`} panel="profile" class="fields" label="Options of the session">
      {lineOptions.map(({ help, name }) => (
        <TextField
          id={`option-${name}`}
          name={name}
          label={help}
          value={String(shown.get(name))}
          sent={sent}
          key={name}
        />
      ))}
      <button type="submit">Change</button>
    </Form>
  )
}

export const ProfilePanel = ({ options, page, sent }: Properties) => (
  <Panel
    id="profile"
    title="Profile"
    note={<span class="muted">behaviour that the service document leaves unspecified</span>}
  >
    <div class="toolbar">
      <Form action={`${page.path}/profile`} panel="profile" class="buttons" label="Presets">
        {Struct.keys(Profile.presets).map((preset) => (
          <button type="submit" name="preset" value={preset} key={preset}>{preset}</button>
        ))}
      </Form>
    </div>
    <FieldError id="profile-preset" name="preset" sent={sent} />
    <Form action={`${page.path}/profile`} panel="profile" label="Profile">
      <Table
        kind="profile"
        caption="The options of the profile"
        isCaptionHidden
        columns={["Question", "Level", "This session"]}
      >
        {Profile.points.map((point) => (
          <Point
            point={point}
            value={sent?.fields[point.name] ?? options.profile[point.name]}
            sent={sent}
            key={point.name}
          />
        ))}
      </Table>
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
    <OptionsForm page={page} options={options} sent={sent} />
    <form method="post" action={`${page.path}/reset`} class="fields">
      <button type="submit">Reset the session</button>
    </form>
  </Panel>
)
