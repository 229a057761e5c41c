/** A limit on the violations of one response, so that a short request cannot cause a long response. */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"

const limit = 20

/** Keeps at most 20 violations. If there are more, the last one says how many are missing. */
export const truncateViolations = (violations: Violation.Violations): Violation.Violations =>
  violations.length <= limit
    ? violations
    : Arr.append(
      violations.slice(0, limit - 1),
      new Violation.Violation({
        path: "",
        problem: "invalid",
        expected: `none of ${violations.length - limit + 1} more violations, which are not listed`
      })
    )
