import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { PassThrough } from "node:stream"
import { main } from "../src/internal/cli/main.ts"
import { captured } from "./support/captured.ts"

const completionsOf = (shell: string) =>
  Effect.map(
    captured(main(["completions", shell], { stdout: new PassThrough(), version: "0" })),
    ({ stdout }) => stdout.join("\n")
  )

const bash = (script: string, ...args: ReadonlyArray<string>) =>
  Command.make("bash", ...args).pipe(
    Command.feed(script),
    Command.lines,
    Effect.provide(NodeContext.layer)
  )

/** What a real bash offers for the last word. */
const offered = (...words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const lines = yield* bash(`${yield* completionsOf("bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length - 1}
$(complete -p idv-mock | sed 's/.*-F \\([^ ]*\\) .*/\\1/') idv-mock
printf '%s\\n' "\${COMPREPLY[@]}"
`)
    return lines.filter((line) => line !== "")
  })

describe("idv-mock completions bash", () => {
  it.live("is a script that bash takes", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* bash(yield* completionsOf("bash"), "-n"), [])
    }))

  it.live.each<[string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["a command", ["idv-mock", "se"], ["serve", "sessions"]],
    ["a command of a command", ["idv-mock", "clock", "fr"], ["freeze"]],
    ["a flag", ["idv-mock", "serve", "--po"], ["--port", "--port-file"]],
    ["a flag after another", ["idv-mock", "serve", "--port", "0", "--grace"], ["--grace-period"]],
    ["a flag of a command of a command", ["idv-mock", "fault", "set", "--cu"], ["--customer"]],
    ["a word that is all that may follow", ["idv-mock", "completions", "f"], ["fish"]],
    ["the values of a flag", ["idv-mock", "verify", "--format", ""], ["json", "junit", "table"]],
    ["those of the same flag of another command", ["idv-mock", "contract", "--format", ""], ["json", "table"]],
    ["those of a flag after another", ["idv-mock", "serve", "--port", "0", "--logs", "j"], ["json"]],
    ["the flags of verify", ["idv-mock", "verify", "--customer"], ["--customer-id", "--customer-key"]],
    ["no flag that is not there", ["idv-mock", "serve", "--url"], []]
  ])("completes %s", ([, words, expected]) =>
    Effect.gen(function*() {
      deepStrictEqual((yield* offered(...words)).toSorted(), expected)
    }))
})

describe("idv-mock completions", () => {
  it.effect.each(["fish", "zsh"])(
    "for %s has commands and flags, and none that are not there",
    (shell) =>
      Effect.gen(function*() {
        const script = yield* completionsOf(shell)
        for (const word of ["serve", "grace-period", "freeze", "verify", "contract", "observations"]) {
          assertInclude(script, word)
        }
        for (const word of ["wizard", "log-level"]) {
          strictEqual(script.includes(word), false, word)
        }
      })
  )
})
