/**
 * Broken servers, each of which violates one claim of the contract: the mock server behind something
 * that changes its requests or its answers. A conformance suite that lets one of them pass does not
 * prove anything of that claim. No part of the published package's entry points.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import type * as Control from "../../../mock-server/src/Control.ts"
import * as MockServer from "../../../mock-server/src/MockServer.ts"
import * as AmlAnswers from "./amlAnswers.ts"
import * as AmlRequests from "./amlRequests.ts"
import * as Endings from "./endings.ts"
import * as Errors from "./errors.ts"
import * as Server from "./server.ts"
import * as TokenAnswers from "./tokenAnswers.ts"
import * as TokenRequests from "./tokenRequests.ts"
import type * as Wire from "./wire.ts"

/**
 * A request of the service, whole. `target` is the path with its query; header names are in lower
 * case.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request extends Wire.Request {}

/**
 * An answer of the service, whole.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer extends Wire.Answer {}

/**
 * What stands between a client and the right server, which is `serve`. What it keeps between requests
 * begins with the effect, once for a server.
 *
 * @category models
 * @since 0.1.0
 */
export type Wrapper = Wire.Wrapper

/**
 * - `id`: the claim, a slash and a name: `token.success.status/201`.
 * - `claim`: the id of the claim that it violates.
 * - `breaks`: what it does wrong, after "it".
 * - `isLate`: it does so only after many requests, so that no case alone shows it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mutant extends Wire.Mutant {}

/**
 * Every mutant: those of the token endpoint first, then those of the check, then those that refuse
 * otherwise, and those that end.
 *
 * @category models
 * @since 0.1.0
 */
export const mutants: ReadonlyArray<Mutant> = [
  TokenRequests.mutants,
  TokenAnswers.mutants,
  AmlRequests.mutants,
  AmlAnswers.mutants,
  Errors.mutants,
  Endings.mutants
].flat()

/**
 * The client of a mutant in front of the right server, which is asked by the client given. Many may
 * share one: their customers have sessions of their own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const client = ({ wrap }: Mutant): Effect.Effect<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  Server.client(wrap)

/**
 * A mutant in process, as `MockServer.layerHttpClient`. Its control plane is the right one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpClient = (
  mutant: Mutant
): Layer.Layer<MockServer.MockServer | Control.Control | HttpClient.HttpClient> =>
  Layer.provideMerge(Layer.effect(HttpClient.HttpClient, client(mutant)), MockServer.layerHttpClientWith({}))

/**
 * A mutant on a free port of loopback, for a tool that needs a socket.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSocket = ({ wrap }: Mutant): Layer.Layer<MockServer.MockServer> => {
  const layerServing = Layer.unwrapEffect(
    Effect.map(Server.app(wrap), (app) => HttpServer.serve(app))
  )
  const layerUrl = Layer.effect(
    MockServer.MockServer,
    HttpServer.addressFormattedWith((url) =>
      Effect.map(
        MockServer.MockServer,
        ({ options }) => MockServer.MockServer.of({ url, options: { ...options, authUrl: url, baseUrl: url } })
      )
    )
  )
  return layerUrl.pipe(
    Layer.provide(HttpMiddleware.withTracerDisabledWhen(layerServing, () => true)),
    Layer.provide(Layer.orDie(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))),
    Layer.provide(MockServer.layerHttpClientWith({}))
  )
}
