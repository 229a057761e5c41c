/**
 * TypeDoc plugin: shows classes and types as they are used, and not as the compiler expands them. `class E extends
 * Schema.TaggedError<E>()(…)` would be documented with an intersection of its fields as the base class, and with the
 * source text of that expression beside each inherited member.
 */
import { Converter, makeRecursiveVisitor, ReferenceType, ReflectionKind } from "typedoc"

/** A base class, or a member of it, that has no name but is the result of a call. */
const isExpression = (type) => type !== undefined && (type.type === "intersection" || /[({<]/.test(type.name ?? ""))

/** Classes of Effect that a reader knows by what they do: an error that can be yielded, a tag of a service. */
const isKnown = (type) => type.type === "reference" && /^(YieldableError|TagClassShape)$/.test(type.name)

/** Members that every error has, or that only the library uses. */
const isNoise = ({ kind, name }) =>
  kind === ReflectionKind.Accessor && (name === "message" || name.startsWith("~") || name.startsWith("["))

/**
 * TypeDoc converts an inferred `readonly [A, ...A[]]` to `readonly [A, A]`. The public types have no pair of two equal
 * types, so this names each as Effect's list with at least one element.
 */
const nameLists = (project) =>
  makeRecursiveVisitor({
    typeOperator: (type) => {
      const [first, second, ...others] = type.target.elements ?? []
      if (second === undefined || others.length > 0 || `${first}` !== `${second}`) return
      type.target = ReferenceType.createBrokenReference("NonEmptyArray", project, "effect")
      type.target.typeArguments = [first]
    }
  })

const withReadonlyLists = (text) => text.replaceAll(/readonly (`?)NonEmptyArray/g, "$1NonEmptyReadonlyArray")

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
        // Nobody constructs a tag.
        if (isTag && child.kind === ReflectionKind.Constructor) project.removeReflection(child)
      }
    }
    // The default value of a property that comes from a field of a schema is the source of that schema.
    for (const property of project.getReflectionsByKind(ReflectionKind.Property)) delete property.defaultValue
  })
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const visitor = nameLists(project)
    for (const reflection of project.getReflectionsByKind(ReflectionKind.All)) {
      if (isExpression(reflection.inheritedFrom)) delete reflection.inheritedFrom
      if (isExpression(reflection.overwrites)) delete reflection.overwrites
      reflection.type?.visit?.(visitor)
    }
  })
  app.renderer.on("endPage", (page) => {
    page.contents = withReadonlyLists(withOneHeading(withoutRepeatedResults(withImportNames(page.contents))))
  })
}
