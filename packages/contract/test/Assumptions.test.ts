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
    "| assumption | section | source | accepted observations | mock server |",
    "|---|---|---|---|---|",
    ...claims.map(row)
  ].join("\n")

const written = ({ claims }: Contract.Contract) => {
  const at = (level: Contract.Level) => claims.filter((claim) => claim.level === level)
  return `# Assumptions

This page is generated from [\`contract/claims.yaml\`](../packages/contract/contract/claims.yaml).

The [service document](service.md) specifies ${
    at("documented").length
  } of the ${claims.length} behaviours that the client or the mock server depends on. The others are named assumptions. In the tables:

- **Source:** what supports the assumption. "The document" is the service document, and the section is the one that would state it.
- **Accepted observations:** the variants that the client handles. It rejects those in *italics* with a typed error, and never reads them as "No". \`idv-mock verify\` finds out which variant your sandbox uses ([contract.md](contract.md)).
- **Mock server:** its default variant. If the row names an option, \`--profile\` selects any of the variants.

## Assumed: supported by a standard or by common practice

${table(at("assumed"))}

## Unknown: without support

${table(at("unknown"))}

## Questions for the service

Ask the provider of the service first about the assumptions that cost most if they are wrong:

- Which fields does a token response have, and does a new token invalidate the old one?
- In which time zone is \`searched_on\`? The client keeps the text, and checks only that the time is within 48 hours of the client's clock.
- Does the response repeat the name exactly as sent, and if not, how does the name change? The client compares the two names.
- Which statuses mean that a check was not performed, and not billed?
- Is there a rate limit, and does its response have \`Retry-After\`?
`
}

describe("docs/assumptions.md", () => {
  it.live("is what the contract says", () =>
    Effect.gen(function*() {
      const reference = yield* Contract.load()
      yield* Effect.promise(() => expect(written(reference)).toMatchFileSnapshot(page))
    }).pipe(Effect.provide(NodeContext.layer)))
})
