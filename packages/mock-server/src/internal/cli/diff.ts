/** `idv-mock diff`: sends the same traffic to the service and to the mock server, and compares their behaviour. */
import * as ConnectionPools from "@effect-idv/cli/connectionPools"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Secrets from "@effect-idv/cli/secrets"
import * as Text from "@effect-idv/cli/textField"
import { fromFlagViolations, UsageError } from "@effect-idv/cli/usageError"
import * as Violation from "@effect-idv/core/Violation"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { NewSession } from "../../ControlApi.ts"
import * as MockServer from "../../MockServer.ts"
import * as Session from "../../Session.ts"
import * as Difference from "../diff/difference.ts"
import * as Traffic from "../diff/traffic.ts"
import * as Observations from "../record/observations.ts"
import * as Pseudonyms from "../record/pseudonyms.ts"
import type { Upstream, UpstreamFailed } from "../record/upstream.ts"
import { WaitText } from "../schema/durationText.ts"
import { wholeNumber } from "../schema/fields.ts"
import { numberOrText } from "../schema/numberOrText.ts"
import * as Settings from "./settings.ts"
import * as UpstreamFlags from "./upstreamFlags.ts"

/** The behaviours differ. The output lists them. */
export class Differs extends Schema.TaggedError<Differs>("@effect-idv/mock-server/internal/Differs")("Differs", {
  message: Schema.String
}) {}

const Flags = Schema.Struct({
  checks: Schema.optionalWith(wholeNumber(1, 10_000), { exact: true, default: () => 10 }),
  spacing: Schema.optionalWith(WaitText, { exact: true, default: () => Duration.millis(500) })
})

const secret = <A, I>(args: ParsedArguments.ParsedArguments, flag: string, name: string, schema: Schema.Schema<A, I>) =>
  Effect.filterOrFail(
    Secrets.flagOrVariable(args, flag, name, schema),
    (value) => value !== undefined,
    () => new UsageError({ text: `--${flag} is missing: expected it, or ${name}` })
  )

/** Records the traffic to one side. */
const recorded = (
  upstream: Upstream,
  customer: Session.Customer,
  { checks, spacing }: typeof Flags.Type
) =>
  Effect.gen(function*() {
    const recording = Observations.make(Pseudonyms.make())
    const hasToken = yield* Traffic.send(
      upstream,
      customer,
      checks,
      Effect.sleep(spacing),
      (exchange) => void recording.add(exchange)
    )
    if (hasToken) return recording
    const [status = "another status"] = Object.keys(recording.observations().token.statuses)
    return yield* new Differs({
      message: `idv-mock diff: the token endpoint returned no token (${status}): check the customer id and the key`
    })
  })

export const diff = (
  args: ParsedArguments.ParsedArguments
): Effect.Effect<void, UsageError | UpstreamFailed | Differs, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const upstream = yield* UpstreamFlags.read(args)
    const flags = yield* Effect.mapError(
      Violation.decodeUnknown(Flags)({
        ...ParsedArguments.field(args, "checks", numberOrText),
        ...ParsedArguments.field(args, "spacing", numberOrText)
      }),
      fromFlagViolations(args)
    )
    const settings = Settings.options(yield* Settings.read(args))
    const customer = {
      customerId: yield* secret(args, "customer-id", "IDV_CUSTOMER_ID", NewSession.fields.customerId),
      customerKey: yield* secret(args, "customer-key", "IDV_CUSTOMER_KEY", Secrets.Key)
    }
    const ofUpstream = yield* recorded(upstream, customer, flags)

    const services = yield* Layer.build(MockServer.layerHttpClientWith({ profile: settings.profile }))
    const { url } = Context.get(services, MockServer.MockServer)
    const ofMock = yield* recorded(
      { ...upstream, auth: url, base: url },
      Session.testCustomer("test-diff"),
      { ...flags, spacing: Duration.zero }
    ).pipe(Effect.provideService(HttpClient.HttpClient, Context.get(services, HttpClient.HttpClient)))

    const { compared, differences, notCompared } = Difference.compare(ofUpstream, ofMock)
    const { aml, token } = ofUpstream.observations()
    for (const { claim, mock, name, upstream } of differences) {
      yield* Console.log(`${name} (${claim}): the upstream has ${upstream}, the mock server ${mock}`)
    }
    if (notCompared.length > 0) {
      yield* Console.log(`Not compared, because only one side showed it: ${notCompared.join(", ")}`)
    }
    const summary =
      `${Text.plural(differences.length, "difference")} in ${Text.plural(compared, "behaviour")}, after ` +
      `${Text.plural(token.exchanges + aml.exchanges, "exchange")} with the upstream`
    yield* Console.log(summary)
    if (compared === 0) {
      return yield* new Differs({
        message: "idv-mock diff: nothing could be compared: check that the addresses are those of the service"
      })
    }
    if (differences.length > 0) return yield* new Differs({ message: `idv-mock diff: ${summary}` })
  }).pipe(Effect.scoped, Effect.provide(ConnectionPools.layer))
