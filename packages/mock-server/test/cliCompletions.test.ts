import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { PassThrough } from "node:stream"
import { main } from "../src/internal/command/main.ts"
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

/** The completions of the last word in a real bash. */
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
  it.live("is a valid bash script", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* bash(yield* completionsOf("bash"), "-n"), [])
    }))

  it.live.each<[string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["a command", ["idv-mock", "se"], ["serve", "session", "sessions"]],
    ["a command of a command", ["idv-mock", "clock", "fr"], ["freeze"]],
    ["a flag", ["idv-mock", "serve", "--po"], ["--port", "--port-file"]],
    ["a flag after another", ["idv-mock", "serve", "--port", "0", "--grace"], ["--grace-period"]],
    ["a flag of a command of a command", ["idv-mock", "fault", "set", "--cu"], ["--customer"]],
    ["a preset", ["idv-mock", "serve", "--profile", "h"], ["hostile"]],
    ["an option of a profile", ["idv-mock", "session", "set", "--profile", "tokenStatus"], [
      "tokenStatus=200",
      "tokenStatus=201",
      "tokenStatus=203"
    ]],
    ["the command of a help", ["idv-mock", "help", "se"], ["serve", "session", "sessions"]],
    ["an argument", ["idv-mock", "completions", "f"], ["fish"]],
    ["the values of a flag", ["idv-mock", "verify", "--format", ""], ["github", "json", "junit", "table"]],
    ["the values of the same flag of another command", ["idv-mock", "contract", "--format", ""], ["json", "table"]],
    ["the values of a flag after another", ["idv-mock", "serve", "--port", "0", "--log", "j"], ["json"]],
    ["the flags of verify", ["idv-mock", "verify", "--customer"], ["--customer-id", "--customer-key"]],
    ["no flag of another command", ["idv-mock", "serve", "--url"], []]
  ])("completes %s", ([, words, expected]) =>
    Effect.gen(function*() {
      deepStrictEqual((yield* offered(...words)).toSorted(), expected)
    }))
})

describe("idv-mock completions", () => {
  it.effect.each(["fish", "zsh"])(
    "for %s has the existing commands and flags only",
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
