/** The page `docs/assumptions.md`, from the contract. To write it anew: `test -u` with this file. */
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Contract from "../src/Contract.ts"

const page = fileURLToPath(new URL("../../../docs/assumptions.md", import.meta.url))

const code = (word: unknown) => `\`${String(word).replaceAll("|", "\\|")}\``

const accepted = ({ accept, refuses }: Contract.Claim) => {
  const refused = new Set<unknown>(refuses)
  const words = new Set<unknown>(accept?.map((word) => typeof word === "object" ? word.pattern : word))
  return Array.from(new Set([...words, ...refused]), (word) => refused.has(word) ? `*${code(word)}*` : code(word)).join(
    ", "
  )
}

const played = ({ mock }: Contract.Claim) =>
  mock === undefined ? "–" : `${code(mock.default)}${mock.option === undefined ? "" : `, option ${code(mock.option)}`}`

const row = (claim: Contract.Claim) =>
  `| ${claim.claim} <br> \`${claim.id}\` | ${claim.section} | ${claim.source} | ${
    claim.unobserved === undefined ? accepted(claim) : `no request can show it: ${claim.unobserved}`
  } | ${played(claim)} |`

const table = (claims: ReadonlyArray<Contract.Claim>) =>
  [
    "| what is taken for true | section | what speaks for it | what a service may do | what the mock server does |",
    "|---|---|---|---|---|",
    ...claims.map(row)
  ].join("\n")

const written = ({ claims }: Contract.Evidence) => {
  const at = (level: Contract.Level) => claims.filter((claim) => claim.level === level)
  return `# What is assumed of the service

Generated from [\`contract/evidence.yaml\`](../packages/contract/contract/evidence.yaml); a test compares the two.

The API document shows ${
    at("documented").length
  } of the ${claims.length} behaviours that the client or the mock server depend on. The others are here, each with a name. The client lives with every variant of the fourth column; those in *italics* it refuses with a typed error, and never with a "No". The mock server plays the variants too, with \`--profile\`, and \`idv-mock verify\` finds out which of them is your sandbox's: [contract.md](contract.md).

## Assumed: a standard or custom speaks for it

${table(at("assumed"))}

## Unknown: nothing speaks for it

${table(at("unknown"))}

## What to ask the service

Whoever runs the service can settle these with a sentence each. The ones to begin with are those where a wrong guess costs something:

- Which fields a token response has, and whether a new token ends the old one.
- Which time zone \`searched_on\` is in: it is kept as written, and the client checks only that it is within 48 hours of its own clock.
- Whether a name comes back as it was sent, and if not, how it is changed: the client compares it.
- Which statuses mean that a check was not performed, and not billed.
- Whether there is a rate limit, and whether its answer has \`Retry-After\`.
`
}

describe("docs/assumptions.md", () => {
  it.live("is what the contract says", () =>
    Effect.gen(function*() {
      const evidence = yield* Contract.load()
      yield* Effect.promise(() => expect(written(evidence)).toMatchFileSnapshot(page))
    }).pipe(Effect.provide(NodeContext.layer)))
})
