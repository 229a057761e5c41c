/**
 * TypeDoc plugin: sorts the members of union types that the compiler inferred. Their order depends on which file
 * the compiler reads first, so the reference would change without a change of the code.
 */
import { Converter, makeRecursiveVisitor } from "typedoc"

const last = (type) => ["null", "undefined"].includes(type.toString())

const compare = (a, b) => Number(last(a)) - Number(last(b)) || a.toString().localeCompare(b.toString(), "en")

export const load = (app) => {
  const visitor = makeRecursiveVisitor({ union: ({ types }) => void types.sort(compare) })
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const reflection of Object.values(project.reflections)) {
      for (const key of ["type", "default", "overwrites", "inheritedFrom"]) reflection[key]?.visit?.(visitor)
      for (const key of ["extendedTypes", "implementedTypes"]) {
        for (const type of reflection[key] ?? []) type.visit(visitor)
      }
    }
  })
}
