/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** What the panels of the page are put together from. */
import * as Violation from "@effect-idv/core/Violation"
import type { ComponentChildren } from "preact"
import type { Fields, Refusal } from "./forms.ts"
import { violationsAt } from "./forms.ts"

/** A part of the page with a heading. `note` stands beside it. */
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

/** A form that changes a panel: in place with the script, by a redirection without it. */
export const Form = (
  { action, children, panel, ...attributes }: {
    readonly action: string
    readonly panel: string
    readonly children: ComponentChildren
    readonly class?: string
    readonly id?: string
    readonly label?: string
    /** Empty again once it was taken. */
    readonly resets?: boolean
  }
) => (
  <form
    method="post"
    action={`${action}#${panel}`}
    class={attributes.class}
    id={attributes.id}
    aria-label={attributes.label}
    data-resets={attributes.resets === true ? "" : undefined}
    hx-post={action}
    hx-target={`#${panel}`}
    hx-swap="outerMorph"
    hx-sync="this:drop"
  >
    {children}
  </form>
)

/** What is wrong with a field, under the id `<id>-error`. */
export const FieldError = (
  { field, id, refusal }: { readonly id: string; readonly field: string; readonly refusal: Refusal | undefined }
) => {
  const violations = refusal === undefined ? [] : violationsAt(refusal, field)
  return violations.length === 0 ? null : <p class="error" id={`${id}-error`}>{Violation.format(violations)}</p>
}

/** The attributes that tie a field to what is wrong with it. */
export const errorAttributes = (id: string, field: string, refusal: Refusal | undefined) =>
  refusal === undefined || violationsAt(refusal, field).length === 0
    ? {}
    : { "aria-invalid": true, "aria-describedby": `${id}-error` }

export const typed = (refusal: Refusal | undefined): Fields => refusal?.fields ?? {}

/** HTTP as it is, in a box that scrolls, also by keyboard. */
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

/** Copying is for the script, so the button is hidden without it. */
export const Copy = ({ text }: { readonly text: string }) => (
  <button type="button" class="small needs-script" data-copy={text} aria-label={`Copy ${text}`}>Copy</button>
)
