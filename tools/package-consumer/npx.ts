/** Runs the commands of the mock server and of the contract with npx from the tarballs, in an empty folder. */
import { Command, FileSystem, Path } from "@effect/platform"
import { Effect, Option, Schema, Stream } from "effect"
import { make as command, run } from "./command.ts"
import type { Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"

const Listening = Schema.parseJson(Schema.Struct({ event: Schema.Literal("listening"), baseUrl: Schema.String }))

/** Starts the server until the scope closes, and returns its address. */
const serve = (folder: string, npx: ReadonlyArray<string>) =>
  Command.start(command(folder, "npx", [...npx, "--", "idv-mock", "serve", "--port", "0"])).pipe(
    Effect.flatMap(({ stdout }) => Stream.runHead(Stream.splitLines(Stream.decodeText(stdout)))),
    Effect.map(Option.getOrElse(() => "")),
    Effect.flatMap(Schema.decode(Listening)),
    Effect.timeoutFail({
      duration: "1 minute",
      onTimeout: () => new Unexpected({ message: "the server does not listen" })
    })
  )

export const test = Effect.fnUntraced(function*(folder: string, packages: Packages) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(folder)
  // The mock server depends on the other packages, which are not on npm yet.
  const npx = [
    "--yes",
    ...packages.flatMap(({ name, tarball }) => name.endsWith("/rescreening") ? [] : ["--package", tarball])
  ]

  const printed = yield* run(folder, "npx", ...npx, "-c", "idv-mock --version && command -v idv-mock").pipe(
    step("npx idv-mock --version")
  )
  const [version, bin = ""] = printed.trim().split("\n")
  // npx keeps what it installed, but these tarballs are never used again.
  const kept = path.dirname(path.dirname(path.dirname(bin)))
  if (kept.includes(`${path.sep}_npx${path.sep}`)) {
    yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(kept, { recursive: true })))
  }
  if (packages.some((each) => each.version !== version)) {
    return yield* new Unexpected({ message: `idv-mock has the version ${version}` })
  }

  const { baseUrl } = yield* serve(folder, npx).pipe(step("npx idv-mock serve --port 0"))
  // The suite runs whole under vitest, in another step.
  const verify = ["verify", "--base-url", baseUrl, "--case", "token.status"]
  const conforms = (report: string) => /^It conforms: 1 of 1 case passed/m.test(report)
  const unexpected = (message: string) => new Unexpected({ message })
  yield* run(folder, bin, ...verify).pipe(
    Effect.filterOrFail(conforms, unexpected),
    step("idv-mock verify, as npx installed it")
  )

  // Without the mock server, as a contract tester installs it.
  const contract = packages.flatMap(({ name, tarball }) =>
    name.endsWith("/contract") ? ["--yes", "--package", tarball] : []
  )
  yield* run(folder, "npx", ...contract, "--", "idv-contract", ...verify).pipe(
    Effect.filterOrFail(conforms, unexpected),
    step("npx idv-contract verify")
  )
}, Effect.scoped)
