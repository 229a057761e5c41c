/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The form that sets a fault. The style sheet shows the fields of the selected options only, also without a script. */
import { Form, Select, TextField } from "./components.tsx"
import * as FaultFields from "./faultFormFields.ts"
import type { SentForm } from "./forms.ts"

/** The id of an element of the form, in which a style sheet needs no escapes. */
const idOf = (name: string): string => `fault-${name.replaceAll(".", "-")}`

interface Properties {
  readonly name: string
  readonly sent: SentForm | undefined
}

const Choice = ({ field, name, sent }: Properties & { readonly field: FaultFields.Choice }) => {
  const id = idOf(name)
  return (
    <>
      <div class={`field ${field.field}`}>
        <label for={id}>{field.field}</label>
        <Select
          id={id}
          name={name}
          options={field.options}
          selected={FaultFields.selected(name, field, sent?.fields ?? {})?.value}
          sent={sent}
        />
      </div>
      {field.options.filter(({ fields }) => fields.length > 0).map((option) => {
        const prefix = FaultFields.prefixOf(name, option)
        return (
          <div class="of-option" id={`${idOf(prefix)}-fields`} key={option.value}>
            <All fields={option.fields} prefix={prefix} sent={sent} />
          </div>
        )
      })}
    </>
  )
}

const All = ({ fields, prefix, sent }: Omit<Properties, "name"> & {
  readonly fields: ReadonlyArray<FaultFields.Input | FaultFields.Choice>
  readonly prefix: string
}) => (
  <>
    {fields.map((field) => {
      const name = FaultFields.nameOf(prefix, field.field)
      return FaultFields.isChoice(field) ? <Choice field={field} name={name} sent={sent} key={name} /> : (
        <TextField
          id={idOf(name)}
          name={name}
          label={field.field}
          placeholder={field.placeholder}
          value={field.isRequired ? field.placeholder : ""}
          sent={sent}
          key={name}
        />
      )
    })}
  </>
)

export const FaultForm = (
  { path, sent }: { readonly path: string; readonly sent: SentForm | undefined }
) => (
  <Form
    action={`${path}/faults`}
    panel="faults"
    class="fields"
    id="fault-form"
    label="Set a fault"
    resets="fault-form"
  >
    {FaultFields.fields.map((field) => (
      <div class={`group ${field.field}`} key={field.field}>
        <All fields={[field]} prefix="" sent={sent} />
      </div>
    ))}
    <button type="submit" class="primary">Set the fault</button>
  </Form>
)

/** A rule for each option with fields: they are hidden while another option is selected. */
const rulesOf = (
  fields: ReadonlyArray<FaultFields.Input | FaultFields.Choice>,
  prefix: string
): ReadonlyArray<string> =>
  fields.filter(FaultFields.isChoice).flatMap((field) => {
    const name = FaultFields.nameOf(prefix, field.field)
    return field.options.filter(({ fields }) => fields.length > 0).flatMap((option) => {
      const optionPrefix = FaultFields.prefixOf(name, option)
      const own = `#fault-form:not(:has(#${idOf(name)} > [value="${option.value}"]:checked)) #${
        idOf(optionPrefix)
      }-fields`
      return [`${own} { display: none }`, ...rulesOf(option.fields, optionPrefix)]
    })
  })

export const formStyle: string = rulesOf(FaultFields.fields, "").join("\n")
