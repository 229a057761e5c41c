/** The kinds of flags: with one value, with several, or without. */
import { InvalidArgumentError, Option } from "commander"

type Texts = ReadonlyArray<string>

/** Rejects a value that begins like a flag, because then the value itself is missing. */
const valueOf = (name: string, value: string): string => {
  if (value.startsWith("--")) throw new InvalidArgumentError(`--${name} needs a value`)
  return value
}

/**
 * Makes a flag with a value. `choices` are only for the help. The schema of the command checks the
 * value, because its error does not repeat the value.
 */
export const valueFlag = (name: string, value: string, description: string, choices?: ReadonlyArray<string>) => {
  const option = new Option(`--${name} <${value}>`, description).argParser<Texts>((value, previous = []) => {
    if (previous.length > 0) throw new InvalidArgumentError(`--${name} occurs more than once`)
    return [valueOf(name, value)]
  })
  if (choices !== undefined) option.argChoices = Array.from(choices)
  return option
}

export const repeatableFlag = (name: string, value: string, description: string) =>
  new Option(`--${name} <${value}>`, `${description} (repeatable)`)
    .argParser<Texts>((value, previous = []) => [...previous, valueOf(name, value)])

export const booleanFlag = (name: string, description: string) => new Option(`--${name}`, description)

export const controlToken = valueFlag(
  "control-token",
  "token",
  "Token of the control API. Flags are visible in the process list: prefer the variable IDV_MOCK_CONTROL_TOKEN"
)
