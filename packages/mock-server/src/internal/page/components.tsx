/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The components that the panels of the page share. */
import type { ComponentChildren } from "preact"
import { type Fields, format, type InvalidForm, problemsAt } from "./forms.ts"

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
  { action, children, panel, ...attributes }: {
    readonly action: string
    readonly panel: string
    readonly children: ComponentChildren
    readonly class?: string
    readonly id?: string
    readonly label?: string
    /** The id of a form, which then takes the values that the server returned instead of those that the user typed. */
    readonly resets?: string
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
    hx-sync="this:drop"
  >
    {children}
  </form>
)

/** The problems of a field, in an element with the id `<id>-error`. */
export const FieldError = (
  { field, id, invalid }: { readonly id: string; readonly field: string; readonly invalid: InvalidForm | undefined }
) => {
  const problems = invalid === undefined ? [] : problemsAt(invalid, field)
  return problems.length === 0 ? null : <p class="error" id={`${id}-error`}>{format(problems)}</p>
}

/** The attributes that connect a field with its problems. */
export const errorAttributes = (id: string, field: string, invalid: InvalidForm | undefined) =>
  invalid === undefined || problemsAt(invalid, field).length === 0
    ? {}
    : { "aria-invalid": true, "aria-describedby": `${id}-error` }

/** What the user typed into an invalid form. */
export const typed = (invalid: InvalidForm | undefined): Fields => invalid?.fields ?? {}

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
