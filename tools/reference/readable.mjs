/**
 * TypeDoc plugin: shows a class as it is used, and not as the compiler expands it. `class E extends
 * Schema.TaggedError<E>()(…)` would be documented with an intersection of its fields as the base class, and with the
 * source text of that expression beside each inherited member.
 */
import { Converter, ReflectionKind } from "typedoc"

/** A base class, or a member of it, that has no name but is the result of a call. */
const isExpression = (type) => type !== undefined && (type.type === "intersection" || /[({<]/.test(type.name ?? ""))

/** Classes of Effect that a reader knows by what they do: an error that can be yielded, a tag of a service. */
const isKnown = (type) => type.type === "reference" && /^(YieldableError|TagClassShape)$/.test(type.name)

/** Members that every error has, or that only the library uses. */
const isNoise = ({ kind, name }) =>
  kind === ReflectionKind.Accessor && (name === "message" || name.startsWith("~") || name.startsWith("["))

/** The name by which a user imports a module: `core/src/AmlError` is `@effect-idv/core/AmlError`. */
const withImportNames = (text) =>
  text.replaceAll(
    /(^# |^- \[)([\w-]+)\/src\/(\w+)/gm,
    (_, start, name, module) => `${start}@effect-idv/${name}/${module}`
  )

/** A class has one constructor. */
const withOneHeading = (text) => text.replaceAll(/^#### Constructors\n\n##### Constructor$/gm, "#### Constructor")

/** The signature shows the result. A section about it only helps if it links to the type. */
const withoutRepeatedResults = (text) =>
  text
    .replaceAll(/\n#{3,} Returns\n\n(?![^\n]*\]\()[^\n]+\n/g, "")
    .replaceAll(/(\nnew [^`]+```\n)\n#{3,} Returns\n\n[^\n]+\n/g, "$1")

export const load = (app) => {
  // Before the resolve phase, in which members are grouped into tables.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const reflection of project.getReflectionsByKind(ReflectionKind.All)) {
      if (isNoise(reflection)) project.removeReflection(reflection)
    }
    for (const reflection of project.getReflectionsByKind(ReflectionKind.Class)) {
      const bases = reflection.extendedTypes ?? []
      const shown = bases.filter((base) => !isExpression(base) && !isKnown(base))
      if (shown.length === bases.length) continue
      if (shown.length > 0) reflection.extendedTypes = shown
      else delete reflection.extendedTypes
      const isTag = bases.some(({ name }) => name === "TagClassShape")
      for (const child of [...reflection.children ?? []]) {
        // Nobody constructs a tag, and the defaults of schema fields are schemas.
        if (isTag && child.kind === ReflectionKind.Constructor) project.removeReflection(child)
        delete child.defaultValue
      }
    }
  })
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const reflection of project.getReflectionsByKind(ReflectionKind.All)) {
      if (isExpression(reflection.inheritedFrom)) delete reflection.inheritedFrom
      if (isExpression(reflection.overwrites)) delete reflection.overwrites
    }
  })
  app.renderer.on("endPage", (page) => {
    page.contents = withOneHeading(withoutRepeatedResults(withImportNames(page.contents)))
  })
}
