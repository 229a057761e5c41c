import { AmlClient, AmlError, Person, WebError } from "@effect-idv/core"
import {
  HttpApi,
  HttpApiBuilder,
  HttpApiClient,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpBody,
  HttpClient,
  HttpClientRequest,
  OpenApi
} from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Redacted, Schema, Struct } from "effect"
import * as PersonInput from "../src/internal/names/personInput.ts"

const people = HttpApiGroup.make("people")
  .add(HttpApiEndpoint.post("signUp", "/sign-up").setPayload(Person.FromInput).addSuccess(Schema.String))
  .add(
    HttpApiEndpoint.post("open", "/accounts")
      .setPayload(Schema.Struct({ holder: Person.FromInput, limit: Schema.NumberFromString }))
      .addSuccess(Schema.String)
  )

const Api = HttpApi.make("bank").add(people).addError(WebError.InputNotAccepted).addError(WebError.NotAvailable)

const screened = (person: Person.Person) =>
  Effect.flatMap(AmlClient.AmlClient, (aml) => aml.check(person)).pipe(
    Effect.map(({ result }): string => result),
    Effect.catchAll((failure) => Effect.fail(WebError.fromFailure(failure)))
  )

const layerPeople = HttpApiBuilder.group(Api, "people", (handlers) =>
  handlers
    .handle("signUp", ({ payload }) => screened(payload))
    .handle("open", ({ payload }) => screened(payload.holder)))

const forbidden = new AmlError.AmlForbidden({ status: 403 })

/** A backend on its own port, and a client for it. */
const backend = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.api(Api)),
  Layer.provide(HttpApiBuilder.middleware(Api, WebError.middleware)),
  Layer.provide(layerPeople),
  Layer.provide(AmlClient.layerTest(({ name }) => Redacted.value(name) === "Zoë Forbidden" ? forbidden : "No")),
  Layer.provideMerge(NodeHttpServer.layerTest)
)

const post = (path: string, body: string) =>
  Effect.gen(function*() {
    const response = yield* HttpClient.post(path, { body: HttpBody.text(body, "application/json") })
    return { status: response.status, text: yield* response.text }
  })

const person = { name: "Canary Testclear", dateOfBirth: "1931-07-29" }

const canaries = /canary|1931|31-02/i

describe("A backend with WebError.middleware", () => {
  it.scopedLive("accepts a person as its payload", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* post("/sign-up", JSON.stringify(person)), { status: 200, text: "\"No\"" })
      const nested = { holder: person, limit: "100" }
      deepStrictEqual(yield* post("/accounts", JSON.stringify(nested)), { status: 200, text: "\"No\"" })
    }).pipe(Effect.provide(backend)))

  const invisible = { field: "name", code: "invisible_character", index: 6, message: "an invisible character" }
  const noSuchDate = { field: "dateOfBirth", code: "no_such_date", message: "the date does not exist" }
  const noText = (field: string) => ({ field, code: "not_text", message: "it is not text" })

  it.scopedLive.each<[string, unknown, ReadonlyArray<object>]>([
    ["a name and a date", { name: "Canary\u200b", dateOfBirth: "1931-02-31" }, [invisible, noSuchDate]],
    ["a name", { ...person, name: "Canary\u200b" }, [invisible]],
    ["another type", { name: ["Canary"], dateOfBirth: 19310729 }, [noText("name"), noText("dateOfBirth")]],
    ["a field that is missing", { name: "Canary" }, [noText("dateOfBirth")]],
    ["nothing", {}, [noText("name"), noText("dateOfBirth")]],
    ["a text", "Canary 1931", [noText("name"), noText("dateOfBirth")]],
    ["null", null, [noText("name"), noText("dateOfBirth")]],
    ["a list", [person], [noText("name"), noText("dateOfBirth")]]
  ])(
    "responds with 422 and the fields, without values, to a person rejected for %s",
    ([, input, errors]) =>
      Effect.gen(function*() {
        for (const [path, body] of [["/sign-up", input], ["/accounts", { holder: input, limit: "100" }]] as const) {
          const { status, text } = yield* post(path, JSON.stringify(body))
          deepStrictEqual({ status, ...JSON.parse(text) }, { status: 422, _tag: "InputNotAccepted", errors })
          strictEqual(canaries.test(text), false, text)
        }
      }).pipe(Effect.provide(backend))
  )

  it.scopedLive.each<[string, string]>([
    ["another field cannot be decoded", JSON.stringify({ holder: person, limit: "Canary" })],
    ["another field is missing", JSON.stringify({ holder: person })],
    ["the whole payload is a list", JSON.stringify([{ holder: person, limit: "100" }])],
    ["the payload is not JSON", "{\"holder\":{\"name\":\"Canary"],
    ["there is no payload", ""]
  ])("responds with 400 without a value if %s", ([, body]) =>
    Effect.gen(function*() {
      const { status, text } = yield* post("/accounts", body)
      strictEqual(status, 400, text)
      strictEqual(canaries.test(text), false, text)
    }).pipe(Effect.provide(backend)))

  it.scopedLive("fails with InputNotAccepted in a derived client", () =>
    Effect.gen(function*() {
      const client = yield* HttpApiClient.make(Api, {
        // The client validates a person as the server does. Only the server rejects this one.
        transformClient: HttpClient.mapRequest(
          HttpClientRequest.bodyText(JSON.stringify({ ...person, name: "N/A" }), "application/json")
        )
      })
      const error = yield* Effect.flip(client.people.signUp({ payload: yield* Person.make(person) }))
      assert(error instanceof WebError.InputNotAccepted)
      deepStrictEqual(error.errors.map(({ code, field }) => [field, code]), [["name", "placeholder"]])
    }).pipe(Effect.provide(backend)))

  it.scopedLive("does not change other responses: unknown paths and the errors of handlers", () =>
    Effect.gen(function*() {
      strictEqual((yield* post("/nowhere", "{}")).status, 404)
      const { status, text } = yield* post("/sign-up", JSON.stringify({ ...person, name: "Zoë Forbidden" }))
      deepStrictEqual({ status, text }, { status: 503, text: "{\"retryAfter\":60,\"_tag\":\"NotAvailable\"}" })
    }).pipe(Effect.provide(backend)))

  it("documents 422", () => {
    const { paths } = OpenApi.fromApi(Api)
    deepStrictEqual(Object.keys(paths["/sign-up"]?.post?.responses ?? {}), ["200", "400", "422", "503"])
  })
})

describe("The message of an issue", () => {
  const codes = Struct.keys(Person.issues)
  const message = (message: string) => ({ _tag: "Type" as const, path: [], message })

  it.each(codes)("of %s is parsed to the same issue", (code) => {
    for (const issue of [{ field: "name", code, index: 12 }, { field: "dateOfBirth", code }] as const) {
      const made = new Person.Issue(issue)
      deepStrictEqual(PersonInput.fromDecodeIssue(message(String(made))), [made])
    }
  })

  it.each([
    "name: something else (empty)",
    "name: it is empty (canary)",
    "name at -1: it is empty (empty)",
    "name at 1.5: it is empty (empty)",
    "surname: it is empty (empty)",
    "Expected a non empty string, actual \"\"",
    ""
  ])("is not parsed if it is from another schema: %s", (words) => {
    deepStrictEqual(PersonInput.fromDecodeIssue(message(words)), [])
  })
})
