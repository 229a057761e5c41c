import type { IncomingHttpHeaders } from "node:http"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** How the service refuses a request and formats a success. Every style follows the document. */
export type Style = "strict" | "ok-false" | "five-hundred" | "hang-up" | "lenient"

/** A request with its complete body. */
export interface Incoming {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Number of the TCP connection, unique within one server. */
  readonly connection: number
  /** Service time in milliseconds at which the request arrived. */
  readonly at: number
}

export interface Credentials {
  readonly id: string
  readonly key: string
}

/** An issued access token. The mutable fields exist for the mutants. */
export interface TokenRecord {
  readonly value: string
  /** Service time in milliseconds from which the lifetime counts. */
  requestedAt: number
  /** Number of checks that presented this token while it was valid. */
  uses: number
  readonly request: Incoming
}

/** State of one server. */
export interface Context {
  readonly style: Style
  readonly customerId: string
  readonly customerKey: string
  readonly now: () => number
  readonly startedAt: number
  readonly tokens: Map<string, TokenRecord>
  /** Number of checks that passed the token check and are not finished. */
  checksInFlight: number
}

/** The decoded body fields of an AML request, before validation. */
export interface Fields {
  readonly entity_type: Json | undefined
  readonly name: Json | undefined
  readonly dob: Json | undefined
}

/** An authorized AML check with valid fields. */
export interface Check {
  readonly request: Incoming
  readonly context: Context
  /** Undefined only when a mutant accepts a request without a token. */
  readonly record: TokenRecord | undefined
  readonly name: string
  readonly dob: string
}

/** The steps of the service. A mutant replaces one or more of them. */
export interface Hooks {
  /** Returns the normalized path, which selects the operation. */
  readonly path: (request: Incoming) => string
  /** Returns whether the operation accepts the method of the request. */
  readonly method: (request: Incoming, context: Context) => boolean
  /** Reads the client credentials of a token request. */
  readonly credentials: (request: Incoming, context: Context) => Credentials | undefined
  readonly customer: (credentials: Credentials | undefined, context: Context, request: Incoming) => boolean
  readonly grant: (request: Incoming, context: Context) => boolean
  readonly issue: (request: Incoming, context: Context) => TokenRecord
  readonly tokenResponse: (record: TokenRecord, context: Context) => JsonObject
  /** Receives each token request whose credentials or grant type are refused. */
  readonly tokenRefused: (request: Incoming, context: Context) => void
  /** Reads the access token of an AML request. */
  readonly bearer: (request: Incoming, context: Context) => string | undefined
  readonly find: (token: string | undefined, request: Incoming, context: Context) => TokenRecord | undefined
  readonly alive: (record: TokenRecord, request: Incoming, context: Context) => boolean
  /** Returns whether the request passes without a token. */
  readonly anonymous: (request: Incoming, context: Context) => boolean
  /** Decodes the body of an AML request. Returns undefined if it is not a JSON object. */
  readonly fields: (request: Incoming) => Fields | undefined
  readonly entity: (value: Json | undefined) => boolean
  readonly name: (value: Json | undefined) => boolean
  readonly dob: (value: Json | undefined) => boolean
  /** Receives each authorized check whose fields are refused. */
  readonly checkRefused: (record: TokenRecord | undefined, request: Incoming, context: Context) => void
  /** Returns whether the person is on a list. */
  readonly matches: (check: Check) => boolean
  readonly attributes: (check: Check, match: boolean) => JsonObject
  readonly credential: (attributes: JsonObject, check: Check, match: boolean) => JsonObject
  readonly encode: (credential: JsonObject, check: Check, match: boolean) => Buffer
  /** Returns extra fields for the body of a refusal. */
  readonly refusalFields: (request: Incoming, context: Context) => JsonObject | undefined
}

/** A client for the probes. All requests go over HTTP to one server. */
export interface Client {
  readonly id: string
  readonly key: string
  readonly send: (request: Outgoing) => Promise<Reply>
  /** Requests a token as the document describes. Throws if the service refuses it. */
  readonly token: () => Promise<string>
  /** Sends a check as the document describes, with the given overrides. */
  readonly check: (token: string, person?: PersonFields, overrides?: Partial<Outgoing>) => Promise<Reply>
  /** Moves the clock of the service forward. */
  readonly advance: (milliseconds: number) => void
  /** Returns the time of the service in milliseconds. */
  readonly now: () => number
  /** Runs the function with requests that share one keep-alive connection. */
  readonly oneConnection: <A>(run: (client: Client) => Promise<A>) => Promise<A>
}

export interface PersonFields {
  readonly [field: string]: Json | undefined
}

export interface Outgoing {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Reply {
  /** Zero if the connection closed without a response. */
  readonly status: number
  readonly text: string
}

/** Resolves to whether the service followed the document. */
export type Probe = (client: Client) => Promise<boolean>

export interface Mutant {
  readonly id: string
  readonly area: string
  /** A sentence or a table row, quoted from the document. */
  readonly breaks: string
  readonly explanation: string
  /** Creates the replaced steps, with new state for each server. */
  readonly hooks: (base: Hooks) => Partial<Hooks>
  /** Resolves to true with each correct server and to false with this mutant. */
  readonly probe: Probe
}
