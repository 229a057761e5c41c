/** The steps of a case, as data: each states how its request differs from the documented one. */

/** A JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

/**
 * A text with placeholders, which {@link file://./templates.ts} fills: `{id}` and `{key}` of the customer, `{secondId}`
 * and `{secondKey}` of another one, `{otherId}` and `{otherKey}` that no service has issued, `{token}`, and of the person `{name}`, `{dob}`, `{day}`, `{month}`,
 * `{year}`, and the documented body as JSON, `{check}`, and as a `{form}`. A placeholder may change its value, as `{token|chop}` does, and
 * `base64(…)` encodes what is inside.
 */
export type Template = string

/**
 * A person whom a check is about.
 *
 * @category models
 * @since 0.1.0
 */
export interface NameAndDob {
  readonly name: string
  /** The date of birth, in the form `dd-mm-yyyy`. */
  readonly dob: string
}

/** A person with what is known about them. */
export interface Person extends NameAndDob {
  /** The result that is promised: by the user, or by the last word of the name on a mock server. */
  readonly promised?: string
  /** What the variables begin with that stand for a person of the user in a command, because reports do not show them. */
  readonly variable?: string
}

/**
 * The person of a check: one who should be on no list, or on a list. `listed 2` and `listed 3` are further listed test
 * persons. On a sandbox they are the vendor's test persons, if the user names them. `any listed` is the second one, or
 * else the first one, or else the usual person.
 */
export type PersonRef = "clear" | "listed" | "listed 2" | "listed 3" | "any listed" | NameAndDob

/** What a token request and a check can both change. */
interface RequestChanges {
  /** @default "POST" */
  readonly method?: string
  /** Further headers. */
  readonly headers?: Readonly<Record<string, Template>>
  /** The query, without its question mark. */
  readonly query?: Template
}

/** A token request (section 4.1). */
export interface TokenStep extends RequestChanges {
  readonly to: "token"
  /**
   * The Authorization header. `null` sends none.
   *
   * @default "Basic base64({id}:{key})"
   */
  readonly authorization?: Template | null
  /**
   * `null` sends no content type.
   *
   * @default "application/x-www-form-urlencoded"
   */
  readonly contentType?: string | null
  /** @default "grant_type=client_credentials" */
  readonly body?: Template
}

/** A check (section 4.2). */
export interface AmlStep extends RequestChanges {
  readonly to: "aml"
  /**
   * The Authorization header. `null` sends none.
   *
   * @default "Bearer {token}"
   */
  readonly authorization?: Template | null
  /**
   * Which of the tokens that this case received fills `{token}`, from 0.
   *
   * @default undefined, the token that all cases share
   */
  readonly token?: number
  /**
   * Whether the service should accept the token, because it is less than an hour old. The reading `lifetime` compares
   * this with the response.
   *
   * @default undefined, the reading ignores the step
   */
  readonly isValid?: boolean
  /** @default "application/json" */
  readonly contentType?: string
  /**
   * The path, which may have the placeholder `{token}`.
   *
   * @default "/api/aml"
   */
  readonly path?: string
  /**
   * The person whom the check is about.
   *
   * @default "clear", or the first test person that the user names
   */
  readonly person?: PersonRef
  /**
   * A string is a template; any other value is sent as JSON, with its strings as templates.
   *
   * @default the body of section 4.2
   */
  readonly body?: Json | Template
  /**
   * Whether the body is sent in two pieces, split between the bytes of its first non-ASCII character.
   *
   * @default false
   */
  readonly inPieces?: boolean
}

/** A request for the page at `aml_profile` of the last credential. */
export interface ProfileStep {
  readonly to: "profile"
}

/**
 * A request to the control API of a mock server, for the session of this case. The case does not read an observation
 * from its response.
 */
export interface ControlStep {
  readonly to: "control"
  /** The path below the session, such as `/clock`. */
  readonly path: string
  readonly body: Json
}

/**
 * Moves the clock of the target: with the target's own `clock`, or with the control API of a mock server for the
 * session of this case.
 */
export interface ClockStep {
  readonly to: "clock"
  /** In seconds. */
  readonly advance: number
}

/** Moves the clock of the target to the next time that matches `until`. */
export interface ClockUntilStep {
  readonly to: "clock"
  /** In UTC: the month and the day or neither, and the time of day, such as `12-31T23:59:55` or `T23:59:55`. */
  readonly until: string
}

/** Sends requests at the same time. */
export interface TogetherStep {
  readonly to: "together"
  readonly steps: ReadonlyArray<TokenStep | AmlStep>
}

/** A step that sends one request to the service itself. */
export type ServiceStep = TokenStep | AmlStep | ProfileStep

export type Step = ServiceStep | ControlStep | ClockStep | ClockUntilStep | TogetherStep
