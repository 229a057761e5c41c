/** The arguments of a command, as `commander` parsed them. */

export interface ParsedArguments {
  /** The values of each flag by its name. */
  readonly flags: Readonly<Record<string, ReadonlyArray<string>>>
  /** The positional arguments. */
  readonly words: ReadonlyArray<string>
  /** The positional arguments as one text. */
  readonly argument: string
}

export const values = ({ flags }: ParsedArguments, name: string): ReadonlyArray<string> => flags[name] ?? []

export const value = (args: ParsedArguments, name: string): string | undefined => values(args, name)[0]

export const isOn = (args: ParsedArguments, name: string): boolean => values(args, name).length > 0

/** An object with the value of a flag as a field, or an empty one. */
export const field = (args: ParsedArguments, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(values(args, name).map((value) => [name, value]))
