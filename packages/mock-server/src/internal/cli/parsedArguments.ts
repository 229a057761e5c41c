/** What was given to a command: its flags by name, each with its values, and its arguments. */

/** - `words`: the arguments. `argument`: the same as one text. */
export interface Given {
  readonly flags: Readonly<Record<string, ReadonlyArray<string>>>
  readonly words: ReadonlyArray<string>
  readonly argument: string
}

export const values = ({ flags }: Given, name: string): ReadonlyArray<string> => flags[name] ?? []

export const value = (given: Given, name: string): string | undefined => values(given, name)[0]

export const isOn = (given: Given, name: string): boolean => values(given, name).length > 0

const text = (text: string): unknown => text

/** The value of a flag as a field, or nothing. */
export const field = (given: Given, name: string, as: (text: string) => unknown = text, field = name) =>
  Object.fromEntries(values(given, name).map((value) => [field, as(value)]))
