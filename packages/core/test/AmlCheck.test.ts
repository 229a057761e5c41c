import { AmlCheck, AmlClient, type AmlCredential, DateOfBirth, Idv, Person, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual, throws } from "@effect/vitest/utils"
import {
  Arbitrary,
  DateTime,
  Duration,
  Effect,
  Either,
  Equal,
  Exit,
  FastCheck,
  Layer,
  Redacted,
  Schema,
  Struct,
  TestClock
} from "effect"
import { readFileSync } from "node:fs"
import { everythingPrinted, renderings } from "./support/canary.ts"
import * as Responses from "./support/responses.ts"
import { endAfter, good, refused, scripted } from "./support/scripted.ts"
import * as Service from "./support/service.ts"

const today = Date.parse("2026-11-20T09:30:00Z")
const token = "canaryAccessToken"
/** Digits that may equal a year by chance: digests, positions in the code, fibers, hashes and metric values. */
const noYears = /[\da-f-]{16,}|\S+:\d+:\d+|#\d+|"(?:_hash|count|sum|min|max)":-?[\d.]+|\[[\d.]+,\d+\]/g
const canaries = ["Canaryfirst", "Canarylast", "1931", token, "canaryProfile", "canaryExtra"]
const wire = Service.credential({ canaryExtra: ["canaryExtra"] }, {
  name: "Canaryfirst  CANARYLAST",
  birth_year: "1931",
  aml_profile: "https://idv.example.com/canaryProfile",
  match_found: "Potential match"
})
/** In a format that `JSON.stringify` does not produce. */
const text = ` ${JSON.stringify(wire, null, 2)}\r\n`

const service = (aml: Service.Handler = () => Effect.sync(() => new Response(text, { status: 201 }))) =>
  Service.make({
    token: (_, count) => Effect.succeed(Service.tokenResponse(count, { access_token: `${token}${count}` })),
    aml
  })

const provide = ({ layer }: ReturnType<typeof service>) =>
  Effect.provide(Layer.provide(Idv.layer(Service.options), layer))

const checkOf = (person: Person.Person) => Effect.flatMap(AmlClient.AmlClient, ({ check }) => check(person))

const canary = Person.make({ name: "Canaryfirst Canarylast", dateOfBirth: "1931-07-29" })

const collected = TestClock.setTime(today).pipe(
  Effect.zipRight(canary),
  Effect.flatMap(checkOf),
  provide(service())
)

const bodyOf = ({ body }: AmlCheck.AmlCheck): Uint8Array => body === undefined ? new Uint8Array() : Redacted.value(body)

const sha256 = (bytes: Uint8Array) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))),
    (hash) => Buffer.from(hash).toString("hex")
  )

const reasonOf = (evidence: AmlCheck.AmlCheck, body?: Redacted.Redacted<Uint8Array>) =>
  Effect.match(AmlCheck.verify(evidence, body), { onFailure: ({ reason }) => reason, onSuccess: () => "holds" })

describe("Evidence", () => {
  it.effect("has the exact bytes of the response, with their SHA-256 and the status", () =>
    Effect.gen(function*() {
      const evidence = yield* collected
      strictEqual(new TextDecoder().decode(bodyOf(evidence)), text)
      strictEqual(evidence.sha256, yield* sha256(new TextEncoder().encode(text)))
      strictEqual(evidence.status, 201)
      strictEqual(evidence.attempts, 1)
      strictEqual(evidence.credential.credentials.attributes.matchFound, "Potential match")
      strictEqual(yield* reasonOf(evidence), "holds")
    }))

  it.effect("has the times of the last request and of its response, and counts the replay", () => {
    const { layer } = service(({ headers }) =>
      Effect.delay(
        Effect.sync(() =>
          headers["authorization"] === `Bearer ${token}1` ? new Response(null, { status: 401 }) : new Response(text)
        ),
        "1500 millis"
      )
    )
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const fiber = yield* Effect.fork(Effect.flatMap(canary, checkOf))
      yield* TestClock.adjust("5 seconds")
      const { attempts, receivedAt, sentAt } = yield* fiber
      strictEqual(attempts, 2)
      deepStrictEqual([sentAt, receivedAt].map(DateTime.toEpochMillis), [today + 1500, today + 3000])
    }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), layer)))
  })

  it.effect("counts an attempt whose connection failed", () =>
    Effect.gen(function*() {
      const check = yield* endAfter(scripted([refused, good]), "1 second")
      strictEqual(Either.getOrThrow(check).attempts, 2)
    }))

  it.effect("proves what was asked, where, for whom, by which client and policy", () => {
    const { amlRequests, layer } = service(() =>
      Effect.sync(() => Service.json(Service.credential({}, { name: "CANARYLAST, Canaryfirst", birth_year: "1931" })))
    )
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const check = yield* AmlClient.withPolicy(Effect.flatMap(canary, checkOf), { nameEcho: "loose" })
      const stored = yield* Schema.encode(AmlCheck.AmlCheck)(check)
      strictEqual(JSON.stringify(stored.request), amlRequests[0]?.body)
      const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      deepStrictEqual(stored.origin, {
        host: "api.example.com:443",
        environment: "sandbox",
        customer: yield* sha256(new TextEncoder().encode("acme-bank")),
        client: `${manifest.name} ${manifest.version}`
      })
      deepStrictEqual(stored.policy, {
        nameEcho: "loose",
        searchedOnTolerance: Duration.toMillis("4000000 days")
      })
    }).pipe(Effect.provide(Layer.provide(Idv.layer({ ...Service.options, environment: "sandbox" }), layer)))
  })

  it.effect("has no environment and customer if neither is known", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const { authUrl, baseUrl, customerId, customerKey, searchedOnTolerance } = Service.options
      const check = yield* Effect.flatMap(canary, checkOf).pipe(
        Effect.provide(Layer.provide(
          Idv.layer({
            authUrl,
            baseUrl,
            searchedOnTolerance,
            credentials: Effect.succeed({ customerId, customerKey })
          }),
          service().layer
        ))
      )
      deepStrictEqual([check.origin.environment, check.origin.customer], [undefined, undefined])
    }))

  it.effect("refuses an environment that is not a label", () =>
    Effect.gen(function*() {
      const error = yield* Layer.provide(Idv.layer({ ...Service.options, environment: "a b" }), service().layer).pipe(
        Layer.build,
        Effect.scoped,
        Effect.flip
      )
      strictEqual(
        Idv.describeConfigError(error),
        "environment should be 1 to 64 letters, digits, dots, hyphens or underscores"
      )
    }))

  it.effect("reports changes of the input, signs of damage, and an assumed date", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const dateOfBirth = yield* DateOfBirth.assumed(1931)
      const person = yield* Person.make({ name: " Dr Zoe\u0308 O&#039;Testpep", dateOfBirth })
      const { changes, warnings } = yield* checkOf(person).pipe(
        provide(
          service(({ body }) =>
            Effect.sync(() =>
              Service.json(Service.credential({}, { name: /"name":"([^"]*)"/.exec(body)?.[1], birth_year: "1931" }))
            )
          )
        )
      )
      deepStrictEqual(changes.map(({ code }) => code), ["blanks_folded", "composed", "assumed"])
      deepStrictEqual(warnings.map(({ code, index }) => [code, index]), [["html_entity", 10], ["title", 1]])
      strictEqual(changes.every((change) => change instanceof Person.Change), true)
    }))

  it.effect("is stored as JSON with its body, decodes to the same evidence, and is still valid", () =>
    Effect.gen(function*() {
      const evidence = yield* collected
      const stored = JSON.stringify(yield* Schema.encode(AmlCheck.AmlCheck)(evidence))
      const back = yield* Schema.decode(Schema.parseJson(AmlCheck.AmlCheck))(stored)
      strictEqual(JSON.stringify(yield* Schema.encode(AmlCheck.AmlCheck)(back)), stored)
      strictEqual(Schema.equivalence(AmlCheck.AmlCheck)(back, evidence), true)
      deepStrictEqual([...bodyOf(back)], [...bodyOf(evidence)])
      strictEqual(yield* reasonOf(back), "holds")
    }))

  it.effect("with a status other than 200 or 201 is not decoded", () =>
    Effect.gen(function*() {
      const stored = yield* Schema.encode(AmlCheck.AmlCheck)(yield* collected)
      for (const [status, isRead] of [[200, true], [201, true], [202, false], [204, false], [206, false]] as const) {
        const read = Violation.decodeUnknown(AmlCheck.AmlCheck)({ ...stored, status })
        strictEqual(Either.isRight(read), isRead, String(status))
      }
    }))

  it.effect("about another person than its credential is not decoded", () =>
    Effect.gen(function*() {
      const stored = yield* Schema.encode(AmlCheck.AmlCheck)(yield* collected)
      const isRead = (request: Partial<typeof stored.request>) =>
        Either.isRight(
          Violation.decodeUnknown(AmlCheck.AmlCheck)({
            ...stored,
            request: { ...stored.request, ...request }
          })
        )
      strictEqual(isRead({}), true)
      strictEqual(isRead({ name: "Bob Testclear" }), false)
      strictEqual(isRead({ dob: stored.request.dob.replace(/\d{4}$/, "1971") }), false)
    }))

  it.effect("can be stored without its body, which verify then requires", () =>
    Effect.gen(function*() {
      const evidence = yield* collected
      const stored = JSON.stringify(yield* Schema.encode(AmlCheck.WithoutBody)(evidence))
      strictEqual(/"body"|canaryExtra/.test(stored), false)
      const back = yield* Schema.decode(Schema.parseJson(AmlCheck.WithoutBody))(stored)
      strictEqual(Object.hasOwn(back, "body"), false)
      strictEqual(yield* reasonOf(back), "no_body")
      strictEqual(yield* reasonOf(back, evidence.body), "holds")
      const whole = yield* Schema.encode(AmlCheck.AmlCheck)(evidence)
      deepStrictEqual(yield* Schema.decodeUnknown(AmlCheck.WithoutBody)(whole), back)
      strictEqual(yield* reasonOf(back, Redacted.make(new TextEncoder().encode(JSON.stringify(wire)))), "digest")
    }))

  it.effect("is not valid with another byte anywhere in the body, even with a matching digest", () =>
    Effect.gen(function*() {
      const evidence = yield* collected
      const bytes = bodyOf(evidence)
      const tampering = FastCheck.tuple(FastCheck.nat(bytes.length - 1), FastCheck.integer({ min: 1, max: 255 }))
      yield* Responses.forAll(tampering, 200, ([index, difference]) =>
        Effect.gen(function*() {
          const body = Redacted.make(bytes.map((byte, at) => at === index ? byte ^ difference : byte))
          strictEqual(yield* reasonOf({ ...evidence, body }), "digest")
          strictEqual(yield* reasonOf(evidence, body), "digest")
        }))
      const body = Redacted.make(new TextEncoder().encode(text.replace("Potential match", "No")))
      const sha256 = AmlCheck.digest(Redacted.value(body))
      strictEqual(yield* reasonOf({ ...evidence, body, sha256 }), "credential")
      strictEqual(yield* reasonOf({ ...evidence, sha256: evidence.sha256.replace(/^./, "x") }), "digest")
    }))

  it.effect("is not valid with another value in any field of the credential", () =>
    Effect.gen(function*() {
      const evidence = yield* collected
      const { credential } = evidence
      const { credentials: { attributes } } = credential
      const others: ReadonlyArray<AmlCredential.AmlCredential> = [
        { ...credential, credentialName: "aml" },
        { ...credential, issuedBy: "" },
        { ...credential, issuerId: "00000000-0000-4000-8000-000000000000" },
        { ...credential, credVersion: "1.1" },
        ...[
          { name: Redacted.make("Canaryfirst Canarylast") },
          { birthYear: Redacted.make("1932") },
          { searchedOn: "2026-11-20 09:30:01" },
          { matchFound: "No" as const },
          { amlProfile: Redacted.make("https://idv.example.com/") }
        ].map((other) => ({ ...credential, credentials: { attributes: { ...attributes, ...other } } }))
      ]
      for (const credential of others) {
        strictEqual(yield* reasonOf({ ...evidence, credential }), "credential")
      }
    }))

  it.effect("has a result by its warnings, and handles each result with its own function", () =>
    Effect.gen(function*() {
      const { warnings, ...check } = yield* collected
      const { attributes } = check.credential.credentials
      const clear = {
        ...check,
        body: Redacted.make(new Uint8Array()),
        credential: { ...check.credential, credentials: { attributes: { ...attributes, matchFound: "No" as const } } }
      }
      const handled = AmlCheck.match({
        onNo: ({ result }) => `onNo ${result}`,
        onDoubtfulNo: ({ result }) => `onDoubtfulNo ${result}`,
        onPotentialMatch: ({ result }) => `onPotentialMatch ${result}`
      })
      const doubtful = Struct.keys(Person.warnings).filter((code) => {
        const findings = [...warnings, new Person.Warning({ field: "name", code })]
        strictEqual(
          handled(AmlCheck.make({ ...clear, credential: check.credential, warnings: findings })),
          "onPotentialMatch Potential match"
        )
        const result = handled(AmlCheck.make({ ...clear, warnings: findings }))
        strictEqual(/^(onNo No|onDoubtfulNo Doubtful No)$/.test(result), true, result)
        return result === "onDoubtfulNo Doubtful No"
      })
      deepStrictEqual(doubtful, [
        "html_entity",
        "mojibake",
        "question_mark",
        "family_name_first",
        "title",
        "unknown_part",
        "other_form",
        "other_name"
      ])
      for (const result of [undefined, null, "no", "NO", false, "Potential Match"]) {
        // As a program without types passes it.
        const other = JSON.parse(JSON.stringify({ result }))
        throws(() => handled(other), new TypeError("AmlCheck.match takes a check with one of the three results"))
      }
      const changed = Struct.keys(Person.changes).filter((code) => {
        const changes = [new Person.Change({ field: "dateOfBirth", code })]
        return AmlCheck.make({ ...clear, warnings: [], changes }).result === "Doubtful No"
      })
      deepStrictEqual(changed, ["assumed"])
    }))

  it.effect("is not decoded if its result does not follow from its credential and its warnings", () =>
    Effect.gen(function*() {
      const matched = yield* collected
      const doubtful = AmlCheck.make({
        ...matched,
        body: Redacted.make(bodyOf(matched)),
        credential: {
          ...matched.credential,
          credentials: { attributes: { ...matched.credential.credentials.attributes, matchFound: "No" } }
        },
        warnings: [new Person.Warning({ field: "name", code: "question_mark" })]
      })
      const decoders = [Violation.decodeUnknown(AmlCheck.AmlCheck), Violation.decodeUnknown(AmlCheck.WithoutBody)]
      const storedMatch = yield* Schema.encode(AmlCheck.AmlCheck)(matched)
      const storedDoubtful = yield* Schema.encode(AmlCheck.AmlCheck)(doubtful)
      const isDecoded = (stored: unknown) => decoders.map((decode) => Either.isRight(decode(stored)))
      deepStrictEqual([storedMatch, storedDoubtful].map(isDecoded), [[true, true], [true, true]])
      for (
        const changed of [
          { ...storedMatch, result: "No" },
          { ...storedDoubtful, result: "No" },
          { ...storedDoubtful, warnings: [] },
          { ...storedDoubtful, result: undefined }
        ]
      ) deepStrictEqual(isDecoded(changed), [false, false])
    }))

  it.effect("of any person and response is valid, also after it was stored", () => {
    const cases = Arbitrary.make(Person.Person).chain((person) =>
      FastCheck.tuple(FastCheck.constant(person), Responses.wireAbout(person))
    )
    let body = ""
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      yield* Responses.forAll(cases, 60, ([person, wire]) =>
        Effect.gen(function*() {
          body = JSON.stringify(wire)
          const evidence = yield* Effect.orDie(checkOf(person))
          strictEqual(yield* reasonOf(evidence), "holds")
          const stored = JSON.stringify(yield* Schema.encode(AmlCheck.AmlCheck)(evidence))
          strictEqual(yield* reasonOf(yield* Schema.decode(Schema.parseJson(AmlCheck.AmlCheck))(stored)), "holds")
        }))
    }).pipe(provide(service(() => Effect.sync(() => new Response(body)))))
  })

  it.effect("prints no name, no year, no profile, no token and no body, valid or not", () =>
    Effect.gen(function*() {
      const { exit, printed } = yield* everythingPrinted(collected, String)
      const refuted = Exit.isSuccess(exit)
        ? yield* Effect.flip(AmlCheck.verify(exit.value, Redacted.make(new TextEncoder().encode("canaryExtra"))))
        : undefined
      strictEqual(refuted?.reason, "digest")
      const all = [printed, ...renderings(refuted)].join("\n").replaceAll(noYears, "")
      deepStrictEqual(canaries.filter((canary) => all.includes(canary)), [])
      // "Canary" in the printed bytes of a buffer: in decimal, and in hex.
      strictEqual(/67,\s*97,\s*110,\s*97,\s*114,\s*121|43 ?61 ?6e ?61 ?72 ?79/.test(all), false)
    }))

  it.effect("that cannot be decoded shows no value, even in a ParseError", () =>
    Effect.gen(function*() {
      const stored = yield* Schema.encode(AmlCheck.AmlCheck)(yield* collected)
      const broken: ReadonlyArray<unknown> = [
        { ...stored, credential: "Canaryfirst" },
        { ...stored, credential: { ...stored.credential, issuer_id: "Canaryfirst" } },
        { ...stored, credential: { ...stored.credential, credentials: { attributes: "Canaryfirst" } } },
        { ...stored, body: { canaryProfile: 1 } },
        { ...stored, sha256: "Canaryfirst", checkId: "Canaryfirst" },
        "Canaryfirst"
      ]
      for (const input of broken) {
        const results = [
          Schema.decodeUnknownEither(AmlCheck.AmlCheck)(input),
          Schema.decodeUnknownEither(AmlCheck.WithoutBody)(input)
        ]
        for (const result of results) {
          const message = Either.match(result, { onLeft: ({ message }) => message, onRight: () => "read" })
          deepStrictEqual(canaries.filter((canary) => message.includes(canary)), [])
        }
      }
      const violations = Violation.decodeUnknown(AmlCheck.AmlCheck)(broken[1])
      strictEqual(
        Either.match(violations, { onLeft: Violation.format, onRight: () => "read" }).startsWith(
          "credential.issuer_id is invalid: expected"
        ),
        true
      )
    }))

  it.effect("of two checks of one person has two ids that sort by time", () =>
    Effect.gen(function*() {
      const first = yield* collected
      yield* TestClock.adjust("1 second")
      const second = yield* Effect.flatMap(canary, checkOf).pipe(provide(service()))
      strictEqual(first.checkId < second.checkId, true)
      strictEqual(Equal.equals(first.sentAt, second.sentAt), false)
      strictEqual(Schema.is(Schema.UUID)(first.checkId), true)
    }))
})
