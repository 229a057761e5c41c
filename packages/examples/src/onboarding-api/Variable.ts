/** Environment variables whose errors state the expected value and never the actual one, which may be a secret. */
import { Config, ConfigError, Duration, Either, Option, Schema } from "effect"

const variable = <A>(name: string, expectation: string, read: (text: string) => Option.Option<A>) =>
  Config.mapOrFail(
    Config.string(name),
    (text) => Either.fromOption(read(text), () => ConfigError.InvalidData([], expectation))
  )

export const integer = (name: string, from: number, to: number) => {
  const schema = Schema.NumberFromString.pipe(Schema.int(), Schema.between(from, to))
  return variable(name, `should be a whole number from ${from} to ${to}`, Schema.decodeOption(schema))
}

export const duration = (name: string, from: Duration.DurationInput, to: Duration.DurationInput) =>
  variable(
    name,
    `should be from ${Duration.format(from)} to ${Duration.format(to)}, such as "4 seconds"`,
    (text) => Option.filter(Duration.decodeUnknown(text), Duration.between({ minimum: from, maximum: to }))
  )
