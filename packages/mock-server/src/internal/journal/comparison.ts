/** Compares an entry with a pattern, field by field. */
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as NameText from "../schema/nameText.ts"
import type { Entry } from "./entry.ts"
import type { Pattern } from "./pattern.ts"
import * as Sent from "./sent.ts"

/** The fields of the pattern, such as `status` or `headers.user-agent`, and whether the entry has the same value. */
const comparisons = (pattern: Pattern, entry: Entry): ReadonlyArray<readonly [field: string, isEqual: boolean]> => {
  const sent = Sent.of(entry)
  const { customerId, dateOfBirth, fault, headers = {}, name, operation, rule, status, unexpected } = pattern
  const field = <A>(name: string, expected: A | undefined, isEqual: (expected: A) => boolean) =>
    expected === undefined ? [] : [[name, isEqual(expected)] as const]
  const sentPerson = Option.map(sent, ({ person }) => person())
  return [
    ...field("operation", operation, (operation) => operation === entry.operation),
    ...field("status", status, (status) => status === entry.response.status),
    ...field("rule", rule, (rule) => rule === entry.rule),
    ...field("fault", fault, (fault) => entry.faults.some(({ id, kind }) => id === fault || kind === fault)),
    ...field("unexpected", unexpected, (unexpected) => unexpected === entry.unexpected),
    ...field("customerId", customerId, (customerId) =>
      customerId === entry.customerId ||
      entry.customerId === null && Option.contains(Option.flatMap(sent, (sent) => sent.customerId()), customerId)),
    ...field("name", name, (name) =>
      Option.exists(
        Option.flatMap(sentPerson, ({ name }) => name),
        (sent) => NameText.comparable(sent) === NameText.comparable(Redacted.value(name))
      )),
    ...field(
      "dateOfBirth",
      dateOfBirth,
      (dateOfBirth) =>
        Option.exists(Option.flatMap(sentPerson, (person) => person.dateOfBirth), Equal.equals(dateOfBirth))
    ),
    ...Object.entries(headers).map(([header, value]) =>
      [
        `headers.${header}`,
        Option.exists(sent, ({ headers }) => headers[header.toLowerCase()]?.trim() === Redacted.value(value).trim())
      ] as const
    )
  ]
}

/** The fields of the pattern that differ, without their values. None if the entry matches. */
export const differences = (pattern: Pattern, entry: Entry): ReadonlyArray<string> =>
  comparisons(pattern, entry).filter(([, isEqual]) => !isEqual).map(([field]) => field)
