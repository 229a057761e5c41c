/**
 * An operation on the mock server or on one session: its endpoint, what it accepts, what it does, and its commands. The
 * control API, `Control`, the command line, the tools for agents and the page adapt this one description.
 */
import * as Violation from "@effect-idv/core/Violation"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Session from "../../Session.ts"
import type { Recorder } from "../journal/recorder.ts"
import * as Violations from "../schema/violations.ts"
import type * as Lifecycle from "../wire/lifecycle.ts"
import { ControlRefused, FaultUnknown, SessionUnknown } from "./controlErrors.ts"

/** What the operations need. */
export type Services = Session.Sessions | Recorder | Lifecycle.Lifecycle

/** The parameters in the path of a request, by their names. */
export type Path = Readonly<Record<string, string>>

/** What an operation accepts. Violations name the fields, and never repeat a value. */
export interface Accepted<Input, E> {
  /** Decodes the JSON form. */
  readonly decode: (json: unknown) => Either.Either<Input, E>
  /** Checks a value that a program passes. */
  readonly validate: (input: unknown) => Either.Either<Input, E>
  readonly encode: (input: Input) => unknown
  /** The schema of the JSON form. None if the operation accepts nothing. */
  readonly schema: Option.Option<Schema.Schema.AnyNoContext>
  /** What the input is, for a door that must name it as a whole. */
  readonly name: string
}

/** What an operation works on: the server, or a session. */
export interface Subject<A, E> {
  readonly find: (path: Path) => Effect.Effect<A, E, Services>
  /** Fails if no request can have these parameters in its path. */
  readonly check: (path: Path) => Effect.Effect<void, E>
}

/** A command of `idv-mock` that calls an operation. */
export interface CommandOf<A> {
  /** The name and the argument, such as `clock advance <duration...>`. */
  readonly usage: string
  readonly help: string
  /** The JSON form of the input. `text` is the argument. */
  readonly input?: (text: string) => unknown
  /** The parameter of the path that the argument is. */
  readonly parameter?: string
  /** Whether each word is the input of a call of its own. If one is invalid, none is called. */
  readonly isRepeated?: boolean
  /** The lines to print. */
  readonly print?: (value: A) => ReadonlyArray<string>
  /** What to say on standard error if there is no line. */
  readonly none?: string
}

/** Whether an input is in its JSON form, or a value of the type that it decodes to. */
export type Form = "json" | "value"

/** An operation with the types of its result and its errors. */
export interface Callable<A, E> {
  readonly method: HttpMethod
  /** The path below `/_mock`, with parameters such as `:customerId`. */
  readonly path: string
  readonly success: Schema.Schema<A, unknown>
  readonly failure: Schema.Schema<E, unknown>
  /** Checks the input and the path, and returns the JSON form. For a server that runs elsewhere. */
  readonly prepare: (path: Path, input: unknown, form: Form) => Effect.Effect<unknown, E>
  /** Calls the operation in this process. */
  readonly call: (path: Path, input?: unknown, form?: Form) => Effect.Effect<A, E, Services>
}

/** Calls operations, in this process or over HTTP. */
export interface Call<Unavailable> {
  <A, E>(operation: Callable<A, E>, path: Path, input?: unknown, form?: Form): Effect.Effect<A, E | Unavailable>
}

/** A command with the effect that returns its lines. */
export interface Command extends Omit<CommandOf<never>, "print"> {
  /** Checks the input without a call. */
  readonly check: (path: Path, input: unknown) => Effect.Effect<unknown, Error>
  readonly lines: <U extends Error>(
    call: Call<U>,
    path: Path,
    input: unknown
  ) => Effect.Effect<ReadonlyArray<string>, Error>
}

/** What an operation does to the state of the server. */
export type Impact = "reads" | "changes" | "destroys"

const impacts: Readonly<Partial<Record<HttpMethod, Impact>>> = { GET: "reads", DELETE: "destroys" }

/** The parts of an operation that do not depend on its types, for doors that treat all operations alike. */
export interface AnyOperation {
  readonly name: string
  readonly method: HttpMethod
  readonly path: string
  readonly description: string
  readonly impact: Impact
  /** The schema of the JSON form of the input. None if the operation accepts nothing. */
  readonly input: Option.Option<Schema.Schema.AnyNoContext>
  /** What the input is, for a door that must name it as a whole. */
  readonly inputName: string
  readonly success: Schema.Schema.AnyNoContext
  readonly commands: ReadonlyArray<Command>
  /** Calls the operation, and returns the status and the body of the response, also for an error. */
  readonly respond: (path: Path, input: unknown) => Effect.Effect<Answer<unknown>, ParseError, Services>
  /** Calls the operation by `call`, and returns the JSON form of the result. */
  readonly json: <U extends Error>(call: Call<U>, path: Path, input: unknown) => Effect.Effect<unknown, Error>
}

export interface Answer<A> {
  readonly value: A
  readonly status: number
}

/** `Endpoint` is the type of the endpoint, for the `HttpApi`. */
export interface Operation<Endpoint, A, E> extends Omit<AnyOperation, "success">, Callable<A, E> {
  readonly endpoint: Endpoint
}

/** `statusOf` returns the status of a response if there are several. */
export const make = <
  Name extends string,
  Method extends HttpMethod,
  Parameters,
  Query,
  Payload,
  A,
  E extends Error,
  On,
  Input
>(
  { accepts, commands = [], description, endpoint, impact, on, run, statusOf }: {
    readonly endpoint: HttpApiEndpoint.HttpApiEndpoint<Name, Method, Parameters, Query, Payload, never, A, E>
    /** A sentence for the documents. */
    readonly description: string
    readonly on: Subject<On, NoInfer<E>>
    readonly accepts: Accepted<Input, NoInfer<E>>
    readonly run: (subject: On, input: Input, path: Path) => Effect.Effect<NoInfer<A>, NoInfer<E>, Services>
    /** @default by the method: GET reads, DELETE destroys, the others change */
    readonly impact?: Impact
    readonly statusOf?: (input: Input) => Effect.Effect<number, never, Services>
    readonly commands?: ReadonlyArray<CommandOf<NoInfer<A>>>
  }
): Operation<HttpApiEndpoint.HttpApiEndpoint<Name, Method, Parameters, Query, Payload, never, A, E>, A, E> => {
  const { errorSchema: failure, method, name, path: template, successSchema: success } = endpoint
  const encode = Schema.encode(success)
  const decode = (input: unknown, form: Form) => form === "json" ? accepts.decode(input) : accepts.validate(input)
  const runDecoded = (path: Path, input: Input) => Effect.flatMap(on.find(path), (subject) => run(subject, input, path))
  const operation: Callable<A, E> = {
    method,
    path: template,
    success,
    failure,
    prepare: (path, input, form) =>
      Effect.flatMap(decode(input, form), (input) => Effect.as(on.check(path), accepts.encode(input))),
    // An invalid input must not begin a session, so it is decoded first.
    call: (path, input, form = "json") => Effect.flatMap(decode(input, form), (input) => runDecoded(path, input))
  }
  return {
    ...operation,
    endpoint,
    name,
    description,
    impact: impact ?? impacts[method] ?? "changes",
    input: accepts.schema,
    inputName: accepts.name,
    commands: commands.map(({ print = () => [], ...command }) => ({
      ...command,
      check: (path, input) => operation.prepare(path, input, "json"),
      lines: (call, path, input) => Effect.map(call(operation, path, input), print)
    })),
    respond: (path, input) =>
      Effect.gen(function*() {
        const decoded = yield* decode(input, "json")
        const status = statusOf === undefined ? HttpApiSchema.getStatusSuccess(success) : yield* statusOf(decoded)
        return { value: yield* runDecoded(path, decoded), status }
      }).pipe(
        Effect.matchEffect({
          onFailure: (error) =>
            Effect.map(
              Schema.encode(failure)(error),
              (value) => ({ value, status: statusOfError(failure.ast, error) })
            ),
          onSuccess: ({ status, value }) => Effect.map(encode(value), (value) => ({ value, status }))
        })
      ),
    json: (call, path, input) => Effect.flatMap(call(operation, path, input), encode)
  }
}

/** The status of the error's schema in a union of errors. */
const statusOfError = (union: AST.AST, error: unknown): number =>
  (AST.isUnion(union) ? union.types : [union]).filter((ast) => Schema.is(Schema.make(AST.typeAST(ast)))(error))
    .map(HttpApiSchema.getStatusErrorAST)[0] ?? 500

const refused = (violations: Violation.Violations) =>
  new ControlRefused({ violations: Violations.truncate(violations) })

/** Accepts what the schema describes, and no unknown field. */
export const accept = <A, I>(schema: Schema.Schema<A, I>, name = "input"): Accepted<A, ControlRefused> => {
  const decode = Violations.decodeUnknown(schema)
  const validate = Violations.decodeUnknown(Schema.typeSchema(schema))
  return {
    decode: (json) => Either.mapLeft(decode(json), refused),
    validate: (input) => Either.mapLeft(validate(input), refused),
    encode: Schema.encodeSync(schema),
    schema: Option.some(schema),
    name
  }
}

/** For an operation whose request has no body. */
export const nothing: Accepted<void, never> = {
  decode: () => Either.void,
  validate: () => Either.void,
  encode: () => undefined,
  schema: Option.none(),
  name: "input"
}

/** For an operation whose request may have an empty body. */
export const emptyBody: Accepted<unknown, ControlRefused> = {
  ...nothing,
  decode: (json) =>
    json === undefined || Predicate.isRecord(json) && Record.isEmptyRecord(json)
      ? Either.right(undefined)
      : Either.left(refused(Violation.whole("an empty object, or no body"))),
  encode: () => ({})
}

/** The server itself. */
export const server: Subject<void, never> = { find: () => Effect.void, check: () => Effect.void }

/**
 * Whether an id can be a segment of a URL path. An empty id, `.`, `..` and half a surrogate pair cannot, and nothing
 * has such an id.
 */
const isPathSegment = (id: string): boolean => !/^\.{0,2}$/.test(id) && Either.isRight(Encoding.encodeUriComponent(id))

const sessionBy = (find: "known" | "find"): Subject<Session.Session, SessionUnknown> => ({
  find: ({ customerId = "" }) =>
    Effect.flatMap(Session.Sessions, (sessions) =>
      Effect.flatMap(
        sessions[find](customerId),
        Option.match({ onNone: () => new SessionUnknown({ customerId }), onSome: Effect.succeed })
      )),
  check: ({ customerId = "" }) => isPathSegment(customerId) ? Effect.void : new SessionUnknown({ customerId })
})

/** A session that exists. */
export const session = sessionBy("known")

/** A session, which begins with this operation if it is that of a test customer. */
export const begunSession = sessionBy("find")

/** A fault of a session that exists. */
export const faultOfSession: Subject<Session.Session, SessionUnknown | FaultUnknown> = {
  find: session.find,
  check: (path) => {
    const { faultId: id = "" } = path
    return Effect.zipRight(session.check(path), isPathSegment(id) ? Effect.void : new FaultUnknown({ id }))
  }
}

/** A path parameter. The client of an `HttpApi` does not encode it, so its schema does; the router decodes it. */
export const pathParameter = <const Name extends string>(name: Name) =>
  HttpApiSchema.param(
    name,
    Schema.transform(Schema.String, Schema.String, { strict: true, decode: (id) => id, encode: encodeURIComponent })
  )

export const customerIdParameter = pathParameter("customerId")

/**
 * An optional query parameter, a single text. The handler refuses duplicates itself, because the
 * `HttpApi` would repeat their values in its error.
 */
export const queryParameter = (jsonSchema: object) =>
  Schema.optional(Schema.Union(Schema.String, Schema.Array(Schema.String)).annotations({ jsonSchema }))
