/** The steps of a case, as data: each states how its request differs from the documented one. */

/** A JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

/**
 * How a token request authenticates. Only `customer` and `form-encoded` send the customer's own key in the
 * documented header.
 *
 * - `customer`: `Basic` with the customer's id and key, as section 4.1 shows.
 * - `form-encoded`: the same, with id and key percent-encoded first.
 * - `wrong key`, `no key`: the customer's id with another key, or with an empty one.
 * - `unknown customer`: a random id and key that no service has issued.
 * - `another scheme`: id and key after `Bearer` instead of `Basic`.
 * - `in the body`: id and key as form parameters, without a header.
 * - `nothing`: no credentials at all.
 */
export type CustomerAuthorization =
  | "customer"
  | "form-encoded"
  | "wrong key"
  | "no key"
  | "unknown customer"
  | "another scheme"
  | "in the body"
  | "nothing"

/**
 * How a check authenticates.
 *
 * - `shared token`: `Bearer` with the token that all cases share.
 * - `own token`: `Bearer` with the first token that this case received.
 * - `lower case`: the shared token after `bearer`.
 * - `unknown token`: `Bearer` with a random text.
 * - `another scheme`: the shared token after `Basic`.
 * - `customer`: `Basic` with the customer's id and key. A service receives a random id and key instead.
 * - `nothing`: no credentials at all.
 */
export type TokenAuthorization =
  | "shared token"
  | "own token"
  | "lower case"
  | "unknown token"
  | "another scheme"
  | "customer"
  | "nothing"

/** A token request (section 4.1). */
export interface TokenStep {
  readonly to: "token"
  /** @default "POST" */
  readonly method?: string
  /** @default "customer" */
  readonly authorization?: CustomerAuthorization
  /**
   * `null` sends no content type.
   *
   * @default "application/x-www-form-urlencoded"
   */
  readonly contentType?: string | null
  /** @default "grant_type=client_credentials" */
  readonly body?: string
}

/** A check (section 4.2). */
export interface AmlStep {
  readonly to: "aml"
  /** @default "POST" */
  readonly method?: string
  /** @default "shared token" */
  readonly authorization?: TokenAuthorization
  /** @default "application/json" */
  readonly contentType?: string
  /** @default "/api/aml" */
  readonly path?: string
  /** A string is sent as it is; any other value is sent as JSON. */
  readonly body: Json
}

/** A request for the page at `aml_profile` of the last credential. */
export interface ProfileStep {
  readonly to: "profile"
}

/**
 * A request to the control plane of a mock server, for the session of this case. Readings do not see its
 * response.
 */
export interface ControlStep {
  readonly to: "control"
  /** The path below the session, such as `/clock`. */
  readonly path: string
  readonly body: Json
}

/** A step that sends a request to the service itself. */
export type ServiceStep = TokenStep | AmlStep | ProfileStep

export type Step = ServiceStep | ControlStep
