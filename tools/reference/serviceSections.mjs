/**
 * TypeDoc plugin: links each section of the service document that a docstring cites ("service document, section 4.2")
 * to its heading in docs/service.md. Fails if there is no such section. The docstrings have no links of their own,
 * because an editor could not follow one out of an installed package. Sections of an RFC stay as they are.
 */
import { readFileSync } from "node:fs"
import { Converter } from "typedoc"

/** Every page of the reference is at `docs/reference/<package>/src/<Module>.md`. */
const page = "../../../service.md"

const service = readFileSync(new URL("../../docs/service.md", import.meta.url), "utf8")

/** The link of each section by its number. The anchors are GitHub's. */
const links = new Map(
  Array.from(service.matchAll(/^#{2,3} (([\d.]+) .+)$/gm), ([, heading, number]) => [
    number,
    `${page}#${heading.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")}`
  ])
)

const linked = (number, where) => {
  const link = links.get(number)
  if (link === undefined) throw new Error(`${where} cites section ${number}, which is not in docs/service.md`)
  return `[${number}](${link})`
}

const citation = /(RFC \d+,\s+)?(sections?\s+)(\d+(?:\.\d+)*(?:(?:,|,?\s+and)\s+\d+(?:\.\d+)*)*)/g

const withLinks = (text, where) =>
  text.replaceAll(citation, (whole, rfc, word, numbers) =>
    rfc === undefined
      ? word + numbers.replaceAll(/\d+(?:\.\d+)*/g, (number) => linked(number, where))
      : whole)

export const load = (app) => {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const reflection of Object.values(project.reflections)) {
      const { comment } = reflection
      for (const part of [comment?.summary, ...(comment?.blockTags ?? []).map(({ content }) => content)].flat()) {
        if (part?.kind === "text") part.text = withLinks(part.text, reflection.getFullName())
      }
    }
  })
}
