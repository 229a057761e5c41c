/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** What the document does not show: each point, how sure its default is, and what the session does. */
import * as Struct from "effect/Struct"
import * as Profile from "../../Profile.ts"
import { Badge, errorAttributes, FieldError, Form, Panel, typed } from "./components.tsx"
import type { Refusal } from "./forms.ts"

const levels: Record<Profile.Level, string> = {
  documented: "the document shows it",
  observed: "the service was seen to do it",
  assumed: "a standard or custom speaks for it",
  unknown: "nothing does"
}

const Point = (
  { point: { level, name, question, variants }, refusal, value }: {
    readonly point: Profile.Point
    readonly value: string
    readonly refusal: Refusal | undefined
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
        <select id={id} name={name} {...errorAttributes(id, name, refusal)}>
          {variants.map((variant) => (
            <option value={variant.value} selected={variant.value === value} key={variant.value}>
              {variant.description}
              {variant.client === "refuses" ? " – the client refuses it" : ""}
            </option>
          ))}
        </select>
        <FieldError id={id} field={name} refusal={refusal} />
      </td>
    </tr>
  )
}

export const ProfilePanel = (
  { path, profile, refusal }: {
    readonly path: string
    readonly profile: Profile.Profile
    readonly refusal?: Refusal | undefined
  }
) => (
  <Panel id="profile" title="Profile" note={<span class="muted">what the API document does not show</span>}>
    <div class="toolbar">
      <Form action={`${path}/profile`} panel="profile" class="buttons" label="Profiles with a name">
        {Struct.keys(Profile.presets).map((preset) => (
          <button type="submit" name="preset" value={preset} key={preset}>{preset}</button>
        ))}
      </Form>
    </div>
    <FieldError id="profile-preset" field="preset" refusal={refusal} />
    <Form action={`${path}/profile`} panel="profile" label="Profile">
      <table class="profile">
        <caption class="hidden">The points of the profile</caption>
        <thead>
          <tr>
            <th scope="col">Question</th>
            <th scope="col">Default is</th>
            <th scope="col">The session does</th>
          </tr>
        </thead>
        <tbody>
          {Profile.points.map((point) => (
            <Point
              point={point}
              value={typed(refusal)[point.name] ?? profile[point.name]}
              refusal={refusal}
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
  </Panel>
)
