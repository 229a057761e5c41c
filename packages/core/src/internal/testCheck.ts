/** The check of `AmlClient.layerTest`, which sends nothing. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AmlCredential, type MatchFound } from "../AmlCredential.ts"
import type { Person } from "../Person.ts"
import * as CheckId from "./checkId.ts"
import type { CompletedCheck } from "./completedCheck.ts"

const encodeCredential = Schema.encodeSync(AmlCredential)

/** A check of `person` that takes no time and returns `matchFound` in a valid credential. */
export const make = Effect.fnUntraced(function*(person: Person, matchFound: MatchFound) {
  const now = yield* DateTime.now
  const at = DateTime.toEpochMillis(now)
  const credential: AmlCredential = {
    credentialType: "aml",
    credentialName: "AML",
    issuedBy: "layerTest",
    issuerId: "00000000-0000-4000-8000-000000000000",
    credVersion: "1.0",
    credentials: {
      attributes: {
        name: person.name,
        birthYear: Redacted.make(String(person.dateOfBirth.year).padStart(4, "0")),
        searchedOn: DateTime.formatIso(now).slice(0, 19).replace("T", " "),
        matchFound,
        amlProfile: Redacted.make("https://example.com/aml-profiles/test")
      }
    }
  }
  const completedCheck: CompletedCheck = {
    checkId: yield* Effect.flatMap(Effect.random, (random) => CheckId.make(at, random)),
    changes: person.changes,
    warnings: person.warnings,
    credential,
    status: 200,
    body: Redacted.make(new TextEncoder().encode(JSON.stringify(encodeCredential(credential)))),
    attempts: 1,
    sentAt: at,
    receivedAt: at
  }
  return completedCheck
})
