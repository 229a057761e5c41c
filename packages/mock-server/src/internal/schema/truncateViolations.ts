/** What a refusal lists of a request in which much is wrong: a short request gets no long answer. */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"

const most = 20

/** At most 20 violations. If there are more, the last one says how many are not listed. */
export const listed = (violations: Violation.Violations): Violation.Violations =>
  violations.length <= most
    ? violations
    : Arr.append(
      violations.slice(0, most - 1),
      new Violation.Violation({
        path: "",
        problem: "invalid",
        expected: `none of ${violations.length - most + 1} more violations, which are not listed`
      })
    )
