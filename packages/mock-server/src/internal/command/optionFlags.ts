/** The flags of the options of a session. */
import { repeatableFlag, valueFlag } from "@effect-idv/cli/commandLine"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as UsageError from "@effect-idv/cli/usageError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as SessionOptions from "../operations/sessionOptions.ts"

type Options = ReadonlyArray<Pick<(typeof SessionOptions.all)[number], "name" | "help" | "flag">>

const withFlag = (options: Options) =>
  options.flatMap(({ flag, help, name }) => Option.isSome(flag) ? [{ field: name, flag: flag.value, help }] : [])

export const flags = (options: Options) =>
  withFlag(options).map(({ flag: { isRepeated, name, value }, help }) =>
    isRepeated ? repeatableFlag(name, value, help) : valueFlag(name, value, help)
  )

/** The name of the flag of each option. */
export const names = (options: Options): Readonly<Record<string, string>> =>
  Object.fromEntries(withFlag(options).map(({ field, flag }) => [field, flag.name]))

/** The JSON form of the options whose flags are present. `isValue` selects the values of a flag. */
export const parse = (
  options: Options,
  args: ParsedArguments.ParsedArguments,
  isValue: (text: string) => boolean = () => true
): Either.Either<Readonly<Record<string, unknown>>, UsageError.UsageError> =>
  Either.map(
    Either.all(
      withFlag(options).flatMap(({ field, flag }) => {
        const texts = ParsedArguments.values(args, flag.name).filter(isValue)
        return texts.length === 0
          ? []
          : [Either.mapBoth(flag.parse(texts), {
            onLeft: UsageError.fromViolations(() => `--${flag.name}`),
            onRight: (value) => [field, value] as const
          })]
      })
    ),
    Object.fromEntries
  )
