/** Checks about people whom the suite invents. A mock server finds those whose name ends in Testpep or Testsanc. */
import type { AmlStep } from "../steps.ts"

/** A check of an invented person. */
export const person = (name: string, dob = "14-03-1957"): AmlStep => ({ to: "aml", person: { name, dob } })

/** The first check of a person whom only the suite knows. A sandbox may know its own test persons only. */
export const strangerStep: AmlStep = person("Anna Maria Louise Clara Testclear", "30-06-1985")
