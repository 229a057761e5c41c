/** The claims that the command line means: those of a file, or those of this package. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Contract from "../../Contract.ts"
import * as EvidenceText from "../conformance/evidenceText.ts"
import * as Given from "./given.ts"
import { Refusal } from "./refusal.ts"
import * as Text from "./text.ts"

const refuse = (path: string, problem: string) =>
  new Refusal({ text: `--evidence ${Text.printable(path)}: ${problem}` })

/** With the digest of the file, which says what a report was judged by. It is read once: it may be a pipe. */
export const read = (given: Given.Given) =>
  Effect.gen(function*() {
    const path = Given.value(given, "evidence") ?? Contract.pathOf("evidence.yaml")
    const text = yield* Effect.mapError(EvidenceText.read(path), (reason) => refuse(path, reason))
    const evidence = yield* Effect.mapError(Contract.fromYaml(text), ({ message }) => refuse(path, message))
    return { evidence, sha256: createHash("sha256").update(text).digest("hex") }
  })
