/** Shell completions, generated from the commands. */
import * as UsageError from "@effect-idv/cli/usageError"
import * as Violation from "@effect-idv/core/Violation"
import type { Command, Option } from "commander"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** A command, and the words that can follow it. */
interface Context {
  readonly path: ReadonlyArray<string>
  readonly words: ReadonlyArray<{ readonly word: string; readonly description: string }>
}

const contextsOf = (command: Command, path: ReadonlyArray<string>): ReadonlyArray<Context> => [
  {
    path,
    words: [
      ...command.commands.map((command) => ({ word: command.name(), description: command.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
        argChoices.map((word) => ({ word, description: "" }))
      ),
      ...command.createHelp().visibleOptions(command).map(({ description, long }) => ({
        word: long ?? "",
        description
      }))
    ]
  },
  ...command.commands.flatMap((command) => contextsOf(command, [...path, command.name()]))
]

/** The values of a flag that the help lists, or those that are too many for it. */
const completionsOf = (option: Option): ReadonlyArray<string> =>
  option.argChoices ??
    (Predicate.hasProperty(option, "completions") && Array.isArray(option.completions)
      ? option.completions.map(String)
      : [])

/** The values of each flag. They depend on the command. */
const choicesOf = (command: Command, path: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...command.options.flatMap((option) => {
    const choices = completionsOf(option)
    return choices.length === 0 ? [] : [`    "${path.join(" ")} "*"${option.long} ") words="${choices.join(" ")}" ;;`]
  }),
  ...command.commands.flatMap((command) => choicesOf(command, [...path, command.name()]))
]

const bash = (program: Command): string => {
  const cases = contextsOf(program, []).toReversed().map(({ path, words }) =>
    `    "${[...path, ""].join(" ")}"*) words="${words.map(({ word }) => word).join(" ")}" ;;`
  )
  return `_idv_mock() {
  local words="" before="\${COMP_WORDS[*]:1:$((COMP_CWORD - 1))} "
  case "\${before# }" in
${choicesOf(program, []).concat(cases).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _idv_mock idv-mock`
}

const fish = (program: Command): string => {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, "\\$&")}'`
  return contextsOf(program, []).flatMap(({ path, words }) => {
    const condition = path.length === 0
      ? "__fish_use_subcommand"
      : path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ")
    return words.map(({ description, word }) =>
      `complete -c idv-mock -n ${quoted(condition)} ${
        word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`
      } -d ${quoted(description)}`
    )
  }).join("\n")
}

/** zsh can load the completions of bash. */
const zsh = (program: Command): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`

const generators = { bash, fish, zsh }

const decodeShell = Violation.decodeUnknown(
  Schema.Literal("bash", "fish", "zsh").annotations(Violation.expecting("one of bash, fish, zsh"))
)

export const make = (program: Command, shell: string): Either.Either<string, UsageError.UsageError> =>
  Either.mapBoth(decodeShell(shell), {
    onLeft: UsageError.fromViolations(() => "<shell>"),
    onRight: (shell) => generators[shell](program)
  })
