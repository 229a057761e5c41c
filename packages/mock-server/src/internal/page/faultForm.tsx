/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The form that sets a fault. The style sheet shows the fields of the selected options only, also without a script. */
import { errorAttributes, FieldError, Form, typed } from "./components.tsx"
import * as FaultFields from "./faultFormFields.ts"
import type { Fields, InvalidForm } from "./forms.ts"

/** The id of an element of the form, in which a style sheet needs no escapes. */
const idOf = (name: string): string => `fault-${name.replaceAll(".", "-")}`

interface Properties {
  readonly name: string
  readonly values: Fields
  readonly invalid: InvalidForm | undefined
}

const Input = ({ field: { field, isRequired, placeholder }, invalid, name, values }: Properties & {
  readonly field: FaultFields.Input
}) => {
  const id = idOf(name)
  return (
    <div class="field">
      <label for={id}>{field}</label>
      <input
        id={id}
        name={name}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={values[name] ?? (isRequired ? placeholder : "")}
        {...errorAttributes(id, name, invalid)}
      />
      <FieldError id={id} field={name} invalid={invalid} />
    </div>
  )
}

const Choice = ({ field, invalid, name, values }: Properties & { readonly field: FaultFields.Choice }) => {
  const id = idOf(name)
  const selected = FaultFields.selected(name, field, values)
  return (
    <>
      <div class={`field ${field.field}`}>
        <label for={id}>{field.field}</label>
        <select id={id} name={name} {...errorAttributes(id, name, invalid)}>
          {field.options.map((option) => (
            <option value={option.value} selected={option === selected} key={option.value}>{option.text}</option>
          ))}
        </select>
        <FieldError id={id} field={name} invalid={invalid} />
      </div>
      {field.options.filter(({ fields }) => fields.length > 0).map((option) => {
        const prefix = FaultFields.prefixOf(name, option)
        return (
          <div class="of-option" id={`${idOf(prefix)}-fields`} key={option.value}>
            <All fields={option.fields} prefix={prefix} values={values} invalid={invalid} />
          </div>
        )
      })}
    </>
  )
}

const All = ({ fields, invalid, prefix, values }: Omit<Properties, "name"> & {
  readonly fields: ReadonlyArray<FaultFields.Input | FaultFields.Choice>
  readonly prefix: string
}) => (
  <>
    {fields.map((field) => {
      const name = FaultFields.nameOf(prefix, field.field)
      return FaultFields.isChoice(field)
        ? <Choice field={field} name={name} values={values} invalid={invalid} key={name} />
        : <Input field={field} name={name} values={values} invalid={invalid} key={name} />
    })}
  </>
)

export const FaultForm = (
  { invalid, path }: { readonly path: string; readonly invalid: InvalidForm | undefined }
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
        <All fields={[field]} prefix="" values={typed(invalid)} invalid={invalid} />
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
