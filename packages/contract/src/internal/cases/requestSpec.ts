/** What a case sends, as data: what differs from the right request of the API document. */

/**
 * How the token endpoint is told who asks. Only `customer` and `form-encoded` are the customer.
 *
 * - `wrong key`, `no key`: the customer's id with another key, or with none.
 * - `unknown customer`: an id and a key that nobody was given.
 * - `another scheme`: what stands after Basic, after Bearer.
 * - `in the body`: id and key as form parameters.
 */
export type Customer =
  | "customer"
  | "form-encoded"
  | "wrong key"
  | "no key"
  | "unknown customer"
  | "another scheme"
  | "in the body"
  | "nothing"

/**
 * How the API is told who asks.
 *
 * - `token`: the one that all cases share.
 * - `this token`: the one that this case was given first.
 * - `customer`: the customer's id and key after Basic; of a service, those of a stranger.
 */
export type Bearer =
  | "token"
  | "this token"
  | "lower case"
  | "unknown token"
  | "another scheme"
  | "customer"
  | "nothing"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** `contentType: null` is none at all. */
export interface ToToken {
  readonly to: "token"
  readonly method?: string
  readonly as?: Customer
  readonly contentType?: string | null
  readonly body?: string
}

/** A body that is a text is sent as it is. */
export interface ToAml {
  readonly to: "aml"
  readonly method?: string
  readonly as?: Bearer
  readonly contentType?: string
  readonly path?: string
  readonly body: Json
}

/** The page that the last credential points to. */
export interface ToProfile {
  readonly to: "profile"
}

/** The control plane of a mock server, for the session of the customer. No part of what is read. */
export interface ToControl {
  readonly to: "control"
  readonly path: string
  readonly body: Json
}

export type Send = ToToken | ToAml | ToProfile | ToControl
