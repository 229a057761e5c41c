/** The fields of a form that sets a fault. An empty field is omitted, so that its default applies. */

export interface Input {
  readonly field: string
  readonly label: string
  /** The default, or an example of a required value. */
  readonly placeholder: string
  /** Whether a number is a text too. */
  readonly isText?: boolean
  readonly isRequired?: boolean
}

export interface Choice {
  readonly field: string
  readonly label: string
  readonly options: ReadonlyArray<Option>
  /** The field of the chosen option's name. Without it, the name itself is the value. */
  readonly kindField?: "kind"
}

export interface Option {
  readonly value: string
  readonly text: string
  /** Whether the choice is omitted from the fault. */
  readonly isNone?: boolean
  readonly fields: ReadonlyArray<Input | Choice>
}

export const input = (field: string, label: string, placeholder: string): Input => ({ field, label, placeholder })

export const text = (field: string, label: string, placeholder: string): Input => ({
  field,
  label,
  placeholder,
  isText: true
})

export const required = (field: string, label: string, placeholder: string): Input => ({
  field,
  label,
  placeholder,
  isRequired: true
})

export const option = (value: string, text: string, fields: Option["fields"] = []): Option => ({ value, text, fields })

export const retryAfter = (none: string): Choice => ({
  field: "retryAfter",
  label: "Retry-After",
  kindField: "kind",
  options: [
    { ...option("", none), isNone: true },
    option("seconds", "seconds", [input("seconds", "Seconds", "1")]),
    option("date", "an HTTP date", [input("in", "From now", "1 second")]),
    option("garbage", "an invalid value", [text("text", "Value", "soon")])
  ]
})

export const at: Choice = {
  field: "at",
  label: "At",
  options: [option("headers", "before the headers"), option("body", "in the middle of the body")]
}

export const distribution: Choice = {
  field: "distribution",
  label: "Delay",
  kindField: "kind",
  options: [
    option("fixed", "fixed", [input("delay", "Time", "2 seconds")]),
    option("uniform", "uniform", [input("min", "From", "0 seconds"), input("max", "To", "4 seconds")]),
    option("normal", "normal", [
      input("mean", "Mean", "2 seconds"),
      input("deviation", "Deviation", "500 milliseconds")
    ]),
    option("logNormal", "log-normal", [input("median", "Median", "2 seconds"), input("sigma", "Sigma", "0.5")])
  ]
}
