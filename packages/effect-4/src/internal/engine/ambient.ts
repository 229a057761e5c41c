/**
 * What an effect of the engine takes from the fiber of Effect 4 that runs it: the clock, the tracer, the span, the loggers
 * and the minimum log level. An effect of Effect 4 within the engine takes the same.
 */
import * as Clock3 from "effect-3/Clock"
import * as Context3 from "effect-3/Context"
import * as DefaultServices3 from "effect-3/DefaultServices"
import * as Duration3 from "effect-3/Duration"
import * as Effect3 from "effect-3/Effect"
import type * as Fiber3 from "effect-3/Fiber"
import * as FiberId3 from "effect-3/FiberId"
import * as FiberRef3 from "effect-3/FiberRef"
import * as FiberRefs3 from "effect-3/FiberRefs"
import * as HashSet3 from "effect-3/HashSet"
import * as Logger3 from "effect-3/Logger"
import * as LogLevel3 from "effect-3/LogLevel"
import * as Option3 from "effect-3/Option"
import * as Runtime3 from "effect-3/Runtime"
import * as Tracer3 from "effect-3/Tracer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as Causes from "./causes.ts"
import * as Spans from "./spans.ts"
import * as Values from "./values.ts"

/** The context of the fiber of Effect 4 that runs the engine. */
class Caller extends Context3.Tag("@effect-idv/effect-4/internal/Caller")<Caller, Context.Context<never>>() {}

/** The context of the fiber of the engine that runs an effect of Effect 4, which may run the engine again. */
const EngineContext = Context.Reference<Context3.Context<never>>("@effect-idv/effect-4/internal/EngineContext", {
  defaultValue: Context3.empty
})

const liveClock = Context.get(Context.empty(), Clock.Clock)

/** A clock of Effect 4 that is not the live one, such as a `TestClock`. */
const fromClock = (clock: Clock.Clock): Clock3.Clock => ({
  [Clock3.ClockTypeId]: Clock3.ClockTypeId,
  unsafeCurrentTimeMillis: () => clock.currentTimeMillisUnsafe(),
  unsafeCurrentTimeNanos: () => clock.currentTimeNanosUnsafe(),
  currentTimeMillis: Effect3.sync(() => clock.currentTimeMillisUnsafe()),
  currentTimeNanos: Effect3.sync(() => clock.currentTimeNanosUnsafe()),
  sleep: (duration) =>
    Effect3.async<void>((resume) => {
      const fiber = Effect.runFork(clock.sleep(Duration.millis(Duration3.toMillis(duration))))
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) resume(Effect3.void)
      })
      return Effect3.sync(() => fiber.interruptUnsafe())
    })
})

const severities: { readonly [L in LogLevel3.LogLevel["_tag"]]: LogLevel.Severity } = {
  All: "Trace",
  Trace: "Trace",
  Debug: "Debug",
  Info: "Info",
  Warning: "Warn",
  Error: "Error",
  Fatal: "Fatal",
  None: "Trace"
}

const levels: { readonly [L in LogLevel.LogLevel]: LogLevel3.LogLevel } = {
  All: LogLevel3.All,
  Trace: LogLevel3.Trace,
  Debug: LogLevel3.Debug,
  Info: LogLevel3.Info,
  Warn: LogLevel3.Warning,
  Error: LogLevel3.Error,
  Fatal: LogLevel3.Fatal,
  None: LogLevel3.None
}

/** Writes the lines of the engine with the loggers of the caller, in the span of the engine. */
const logger = Logger3.make<unknown, void>(({ annotations, cause, context: refs, logLevel, message }) => {
  const context = FiberRefs3.getOrDefault(refs, FiberRef3.currentContext)
  const parts = (Array.isArray(message) ? message : [message]).map(Values.unknown)
  const reason = Causes.toCause(cause, Causes.unknown)
  const line = Effect.logWithLevel(severities[logLevel._tag])(...parts, ...(reason.reasons.length > 0 ? [reason] : []))
  const span = Context3.getOption(context, Tracer3.ParentSpan)
  Effect.runSyncWith(Option3.getOrElse(Context3.getOption(context, Caller), Context.empty))(
    Effect.annotateLogs(
      Option3.isSome(span) ? Effect.withParentSpan(line, Spans.toSpan(span.value)) : line,
      Object.fromEntries(Array.from(annotations, ([key, value]) => [key, Values.unknown(value)]))
    )
  )
})

interface Settings {
  readonly clock: Clock.Clock
  readonly tracer: Tracer.Tracer
  readonly isTraced: boolean
  readonly level: LogLevel.LogLevel
}

const makeRefs = ({ clock, isTraced, level, tracer }: Settings): FiberRefs3.FiberRefs => {
  const traced = Context3.add(DefaultServices3.liveServices, Tracer3.Tracer, Spans.fromTracer(tracer))
  const services = clock === liveClock ? traced : Context3.add(traced, Clock3.Clock, fromClock(clock))
  const set = <A>(fiberRef: FiberRef3.FiberRef<A>, value: A) => (refs: FiberRefs3.FiberRefs) =>
    FiberRefs3.updateAs(refs, { fiberId: FiberId3.none, fiberRef, value })
  return FiberRefs3.empty().pipe(
    set(FiberRef3.currentLoggers, HashSet3.make(logger)),
    set(FiberRef3.currentMinimumLogLevel, levels[level]),
    // The caller receives the failure. The log of it could contain an error of the caller.
    set(FiberRef3.unhandledErrorLogLevel, Option3.none()),
    set(FiberRef3.currentTracerEnabled, isTraced),
    set(DefaultServices3.currentServices, services)
  )
}

/** The last settings, because almost all calls of a program have the same. */
let last: (Settings & { readonly refs: FiberRefs3.FiberRefs }) | undefined

const refsOf = (context: Context.Context<never>): FiberRefs3.FiberRefs => {
  const settings = {
    clock: Context.get(context, Clock.Clock),
    tracer: Context.get(context, Tracer.Tracer),
    isTraced: Context.get(context, References.TracerEnabled),
    level: Context.get(context, References.MinimumLogLevel)
  }
  if (
    last === undefined || last.clock !== settings.clock || last.tracer !== settings.tracer ||
    last.isTraced !== settings.isTraced || last.level !== settings.level
  ) last = { ...settings, refs: makeRefs(settings) }
  return last.refs
}

/** The runtime in which the engine runs for a fiber of Effect 4. */
export const runtimeOf = (caller: Context.Context<never>): Runtime3.Runtime<never> => {
  const engine = Context3.add(Context.get(caller, EngineContext), Caller, caller)
  const parent = Context.getOrUndefined(caller, Tracer.ParentSpan)
  return Runtime3.make({
    context: parent === undefined
      ? Context3.omit(Tracer3.ParentSpan)(engine)
      : Context3.add(engine, Tracer3.ParentSpan, Spans.fromSpan(parent)),
    runtimeFlags: Runtime3.defaultRuntimeFlags,
    fiberRefs: refsOf(caller)
  })
}

/** The context of an effect of Effect 4 that a fiber of the engine runs. */
export const within = <R>(
  context: Context.Context<R>,
  engine: Fiber3.RuntimeFiber<unknown, unknown>
): Context.Context<R> => {
  const { currentContext } = engine
  const span = Context3.getOption(currentContext, Tracer3.ParentSpan)
  const inner = Context.add(context, EngineContext, currentContext)
  return Option3.isSome(span) ? Context.add(inner, Tracer.ParentSpan, Spans.toSpan(span.value)) : inner
}
