/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The components that the panels of the page share. */
import type { ComponentChildren } from "preact"
import { format, problemsAt, type SentForm } from "./forms.ts"

/** A section of the page with a heading and a note beside it. */
export const Panel = (
  { children, id, note, title }: {
    readonly id: string
    readonly title: string
    readonly note?: ComponentChildren
    readonly children: ComponentChildren
  }
) => (
  <section id={id} class="panel" aria-labelledby={`${id}-title`}>
    <header>
      <h2 id={`${id}-title`} tabIndex={-1}>{title}</h2>
      {note}
    </header>
    {children}
  </section>
)

/** A form that changes a panel: in place with the script, by a redirect without it. */
export const Form = (
  { action, children, panel, sync = "this:drop", ...attributes }: {
    readonly action: string
    readonly panel: string
    readonly children: ComponentChildren
    readonly class?: string
    readonly id?: string
    readonly label?: string
    /** The id of a form, which then takes the values that the server returned instead of those that the user typed. */
    readonly resets?: string
    /** The `hx-sync` of the form. By default, it ignores a second submission until the first one has its response. */
    readonly sync?: string
  }
) => (
  <form
    method="post"
    action={`${action}#${panel}`}
    class={attributes.class}
    id={attributes.id}
    aria-label={attributes.label}
    data-resets={attributes.resets}
    hx-post={action}
    hx-target={`#${panel}`}
    hx-swap="outerMorph"
    hx-sync={sync}
  >
    {children}
  </form>
)

/** A field of a form. */
interface FieldProperties {
  readonly id: string
  readonly name: string
  /** The form, if the page shows it again. */
  readonly sent: SentForm | undefined
}

/** The problems of a field, in an element with the id `<id>-error`. */
export const FieldError = ({ id, name, sent }: FieldProperties) => {
  const problems = problemsAt(sent, name)
  return problems.length === 0 ? null : <p class="error" id={`${id}-error`}>{format(problems)}</p>
}

/** The attributes that connect the control of a field with its problems and its hint. */
const descriptionOf = ({ id, name, sent }: FieldProperties, hint?: ComponentChildren) => {
  const isInvalid = problemsAt(sent, name).length > 0
  const ids = [...(isInvalid ? [`${id}-error`] : []), ...(hint === undefined ? [] : [`${id}-hint`])]
  return {
    ...(isInvalid && { "aria-invalid": true }),
    ...(ids.length > 0 && { "aria-describedby": ids.join(" ") })
  }
}

/** A text that the user types, with its label. It has several lines if it has `rows`. */
export const TextField = (
  { hint, kind, label, list, mono, placeholder, rows, value, ...field }: FieldProperties & {
    readonly label: string
    /** The value before the user typed one. */
    readonly value: string
    readonly placeholder?: string
    /** The id of a `datalist`. */
    readonly list?: string
    readonly hint?: ComponentChildren
    readonly rows?: number
    /** A class of the field, for its width. */
    readonly kind?: string
    readonly mono?: boolean
  }
) => {
  const { id, name, sent } = field
  const typed = sent?.fields[name] ?? value
  const attributes = {
    id,
    name,
    class: mono === true ? "mono" : undefined,
    autocomplete: "off",
    spellcheck: false,
    placeholder,
    ...descriptionOf(field, hint)
  }
  return (
    <div class={kind === undefined ? "field" : `field ${kind}`}>
      <label for={id}>{label}</label>
      {rows === undefined
        ? <input {...attributes} list={list} value={typed} />
        // HTML drops a line feed after the tag.
        : <textarea {...attributes} rows={rows}>{/^[\r\n]/.test(typed) ? `\n${typed}` : typed}</textarea>}
      <FieldError {...field} />
      {hint !== undefined && <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  )
}

/** A list of options, of which the user selects one. It has no label of its own. */
export const Select = ({ options, selected, ...field }: FieldProperties & {
  readonly options: ReadonlyArray<{ readonly value: string; readonly text: string }>
  readonly selected: string | undefined
}) => (
  <>
    <select id={field.id} name={field.name} {...descriptionOf(field)}>
      {options.map(({ text, value }) => <option value={value} selected={value === selected} key={value}>{text}
      </option>)}
    </select>
    <FieldError {...field} />
  </>
)

/** A table with a caption. The column `Action` has buttons, and shows no name. */
export const Table = ({ caption, children, columns, id, isCaptionHidden = false, kind }: {
  readonly caption: string
  readonly isCaptionHidden?: boolean
  readonly columns: ReadonlyArray<string>
  readonly children: ComponentChildren
  /** A class of the table, for its style. */
  readonly kind: string
  readonly id?: string
}) => (
  <table class={kind} id={id}>
    <caption class={isCaptionHidden ? "hidden" : undefined}>{caption}</caption>
    <thead>
      <tr>
        {columns.map((column) => (
          <th scope="col" key={column}>{column === "Action" ? <span class="hidden">{column}</span> : column}</th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)

/** The text of a request or response, in a box that also scrolls by keyboard. */
export const Wire = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <figure class="wire">
    <figcaption>{label}</figcaption>
    <pre tabIndex={0} role="region" aria-label={label}>{text}</pre>
  </figure>
)

/** A status, coloured by its class. */
export const Status = ({ status }: { readonly status: number }) => (
  <span class={`status s${Math.floor(status / 100)}`}>{status}</span>
)

export const Badge = ({ children, kind }: { readonly kind: string; readonly children: ComponentChildren }) => (
  <span class={`badge ${kind}`}>{children}</span>
)

/**
 * A button that copies a text, under its name if the text is long. Copying needs the script, so the button is hidden
 * without it.
 */
export const Copy = (
  { label = "Copy", name, text }: { readonly text: string; readonly name?: string; readonly label?: string }
) => (
  <button
    type="button"
    class="small needs-script"
    data-copy={text}
    data-name={name}
    aria-label={label === "Copy" ? `Copy ${name === undefined ? text : `the command: ${name}`}` : undefined}
  >
    {label}
  </button>
)
