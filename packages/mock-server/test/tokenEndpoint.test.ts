import { MockServer, type Profile } from "@effect-idv/mock-server"
import { layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import {
  basic,
  changeProfile,
  decisionOf,
  type Expected,
  formType,
  reset,
  type Sent,
  tokenRequest,
  tooLong
} from "./support/decisions.ts"

layer(MockServer.layerHttpClient)("The decision about a token request", (it) => {
  const credentials = "The Authorization header must be Basic with a known customer_id and its key"
  const ofCredentials = ["token.request.authorization", "token.error", "token.error.code", "token.error.challenge"]
  const ofSuccess = ["token.success.status", "token.response.fields", "token.lifetime", "token.response.lifetime"]
  const ofGrantType = ["token.request.grant-type", "token.error", "token.error.grant-type"]

  it.effect.each<readonly [string, Sent, Profile.Patch, Expected]>([
    ["that is correct", {}, {}, [
      200,
      "token.granted",
      "A token for 3600 s",
      ofSuccess,
      false
    ]],
    ["with form-encoded credentials", { headers: { authorization: basic("demo%2Dcustomer:demo%2Dkey") } }, {}, [
      200,
      "token.granted",
      "A token for 3600 s. The client form-encoded its credentials, which the service document does not show",
      ofSuccess,
      false
    ]],
    ["with a form-encoded customer id", { headers: { authorization: basic("demo%2Dcustomer:demo-key") } }, {}, [
      200,
      "token.granted",
      "A token for 3600 s. The client form-encoded its credentials, which the service document does not show",
      ofSuccess,
      false
    ]],
    ["with another parameter", { body: "grant_type=client_credentials&scope=x" }, {}, [
      200,
      "token.granted",
      "A token for 3600 s",
      ofSuccess,
      false
    ]],
    ["without a refused parameter", {}, { tokenParameters: "refused" }, [
      200,
      "token.granted",
      "A token for 3600 s",
      ofSuccess,
      false
    ]],
    ["of another method", { method: "GET" }, {}, [
      405,
      "token.method",
      "The method of this operation is POST",
      ["token.request.method", "token.error.method"],
      true
    ]],
    ["of another content type", { headers: { "content-type": "text/plain" } }, {}, [
      415,
      "token.content-type",
      `The content type of this operation is ${formType}`,
      ["token.request.content-type", "token.error.content-type"],
      true
    ]],
    ["with a content coding", { headers: { "content-encoding": "gzip" } }, {}, [
      415,
      "token.content-encoding",
      "The body may not have a content coding",
      ["token.error"],
      true
    ]],
    ["that is too long", { body: tooLong }, {}, [
      413,
      "token.body-too-long",
      "A body has at most 65536 bytes",
      ["limits.body"],
      true
    ]],
    ["without credentials", { headers: { authorization: "Bearer x" } }, {}, [
      401,
      "token.credentials",
      `${credentials}: an Authorization header came, but with Bearer`,
      ofCredentials,
      true
    ]],
    ["of an unknown customer", { headers: { authorization: basic("nobody:wrong") } }, {}, [
      401,
      "token.credentials",
      `${credentials}: the customer_id is not known, or its key is wrong`,
      ofCredentials,
      true
    ]],
    ["with a wrong key", { headers: { authorization: basic("demo-customer:wrong") } }, {}, [
      401,
      "token.credentials",
      `${credentials}: the key is wrong`,
      ofCredentials,
      true
    ]],
    ["with a parameter in the query", { target: "/oauth/service?scope=x" }, {}, [
      400,
      "token.query",
      "scope must be in the body, and not in the query",
      ["token.request.grant-type", "token.error"],
      true
    ]],
    ["without a grant type", { body: "grant_type=" }, {}, [
      400,
      "token.grant-type",
      "grant_type is required, once",
      ofGrantType,
      true
    ]],
    ["with two grant types", { body: "grant_type=client_credentials&grant_type=client_credentials" }, {}, [
      400,
      "token.grant-type",
      "grant_type is required, once",
      ofGrantType,
      true
    ]],
    ["with another grant type", { body: "grant_type=password" }, {}, [
      400,
      "token.grant-type",
      "grant_type must be client_credentials",
      ofGrantType,
      true
    ]],
    ["with a refused parameter", { body: "grant_type=client_credentials&scope=x" }, { tokenParameters: "refused" }, [
      400,
      "token.parameters",
      "grant_type is the only parameter that is allowed",
      ["token.request.parameters", "token.error"],
      true
    ]],
    ["that the profile redirects", {}, { redirects: "same-origin" }, [
      307,
      "token.redirected",
      "The profile redirects: a client must not follow with its credentials or its token",
      ["redirects"],
      false
    ]]
  ])("%s has a rule, a reason and its claims", ([, change, patch, expected]) =>
    Effect.gen(function*() {
      yield* reset
      yield* changeProfile(patch)
      deepStrictEqual(yield* decisionOf(tokenRequest(change)), expected)
    }))
})
