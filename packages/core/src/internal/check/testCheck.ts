/** The check of `AmlClient.layerTest`, which sends nothing. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AmlCheck from "../../AmlCheck.ts"
import { AmlCredential } from "../../AmlCredential.ts"
import * as Person from "../../Person.ts"
import * as PersonInput from "../names/personInput.ts"
import { client } from "../wire/version.ts"
import * as Check from "./check.ts"

const encodeCredential = Schema.encodeSync(AmlCredential)

/** A check of `person` that takes no time. For a "Doubtful No", the response names the person in other words. */
export const make = Effect.fnUntraced(function*(person: Person.Person, result: AmlCheck.Result) {
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
        matchFound: result === "Potential match" ? "Potential match" : "No",
        amlProfile: Redacted.make("https://example.com/aml-profiles/test")
      }
    }
  }
  return AmlCheck.make({
    origin: { host: "layerTest", client },
    request: { ...Person.toRequestBody(person), dob: Redacted.make(person.dateOfBirth) },
    policy: { nameEcho: "exact", searchedOnTolerance: Duration.hours(48) },
    checkId: yield* Effect.flatMap(Effect.random, (random) => Check.makeId(at, random)),
    changes: person.changes,
    warnings: result === "Doubtful No"
      ? [...person.warnings, new PersonInput.Warning({ field: "name", code: "other_name" })]
      : person.warnings,
    credential,
    status: 200,
    body: Redacted.make(new TextEncoder().encode(JSON.stringify(encodeCredential(credential)))),
    attempts: 1,
    sentAt: now,
    receivedAt: now
  })
})
