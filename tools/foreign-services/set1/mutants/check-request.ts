import { area } from "../define.ts"
import { fieldsOf, isObject, parseJson } from "../hooks.ts"
import { refusesBody, refusesPerson } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { defaultPerson } from "../requests.ts"
import type { Fields, Hooks, Incoming, Json, PersonFields } from "../types.ts"

const entity = area("check request: entity_type")
const name = area("check request: name")
const body = area("check request: body")

type Test = (value: Json | undefined) => boolean

const entityAccepts = (test: Test) => (base: Hooks): Partial<Hooks> => ({
  entity: (value) => base.entity(value) || test(value)
})
const nameAccepts = (test: Test) => (base: Hooks): Partial<Hooks> => ({
  name: (value) => base.name(value) || test(value)
})

/** Decodes the body in another way if the documented way fails. */
const decodes = (read: (request: Incoming) => Fields | undefined) => (base: Hooks): Partial<Hooks> => ({
  fields: (request) => base.fields(request) ?? read(request)
})

/** Reads a field from another name if the documented field is absent. */
const alias =
  (field: "name" | "dob" | "entity_type", read: (value: PersonFields) => Json | undefined) =>
  (base: Hooks): Partial<Hooks> => ({
    fields: (request) => {
      const fields = base.fields(request)
      const value = parseJson(request.body)
      return fields === undefined || fields[field] !== undefined || !isObject(value)
        ? fields
        : { ...fields, [field]: read(value) }
    }
  })

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "")
const documented = JSON.stringify(defaultPerson)

export const checkRequestMutants = [
  entity(
    "entity-absent",
    quotes.entityRow,
    "A check without entity_type is accepted.",
    entityAccepts((value) => value === undefined),
    refusesPerson({ entity_type: undefined })
  ),
  entity(
    "entity-null",
    quotes.entityRow,
    "The value null is accepted.",
    entityAccepts((value) => value === null),
    refusesPerson({ entity_type: null })
  ),
  entity(
    "entity-empty",
    quotes.entityRow,
    "An empty string is accepted.",
    entityAccepts((value) => value === ""),
    refusesPerson({ entity_type: "" })
  ),
  entity(
    "entity-company",
    quotes.individualsOnly,
    "The value company is accepted.",
    entityAccepts((value) => value === "company"),
    refusesPerson({ entity_type: "company" })
  ),
  entity(
    "entity-any",
    quotes.entityRow,
    "Each non-empty string is accepted.",
    entityAccepts((value) => text(value) !== ""),
    refusesPerson({ entity_type: "vessel" })
  ),
  entity(
    "entity-case",
    quotes.entityRow,
    "The value is compared without regard to case.",
    entityAccepts((value) => text(value).toLowerCase() === "person"),
    refusesPerson({ entity_type: "Person" })
  ),
  entity(
    "entity-prefix",
    quotes.entityRow,
    "A value that starts with person is accepted.",
    entityAccepts((value) => text(value).startsWith("person")),
    refusesPerson({ entity_type: "persons" })
  ),
  entity(
    "entity-contains",
    quotes.entityRow,
    "A value that contains person is accepted.",
    entityAccepts((value) => text(value).includes("person")),
    refusesPerson({ entity_type: "legal person" })
  ),
  entity(
    "entity-individual",
    quotes.entityRow,
    "The value individual is accepted.",
    entityAccepts((value) => value === "individual"),
    refusesPerson({ entity_type: "individual" })
  ),
  entity(
    "entity-array",
    quotes.entityRow,
    "An array that contains person is accepted.",
    entityAccepts((value) => Array.isArray(value) && value.includes("person")),
    refusesPerson({ entity_type: ["person"] })
  ),
  entity(
    "entity-number",
    quotes.entityRow,
    "A number is accepted.",
    entityAccepts((value) => typeof value === "number"),
    refusesPerson({ entity_type: 1 })
  ),
  entity(
    "entity-true",
    quotes.entityRow,
    "The value true is accepted.",
    entityAccepts((value) => value === true),
    refusesPerson({ entity_type: true })
  ),

  name(
    "name-absent",
    quotes.nameRow,
    "A check without a name is accepted.",
    nameAccepts((value) => value === undefined),
    refusesPerson({ name: undefined })
  ),
  name(
    "name-null",
    quotes.nameRow,
    "The value null is accepted.",
    nameAccepts((value) => value === null),
    refusesPerson({ name: null })
  ),
  name(
    "name-empty",
    quotes.nameRow,
    "An empty name is accepted.",
    nameAccepts((value) => value === ""),
    refusesPerson({ name: "" })
  ),
  name(
    "name-blank",
    quotes.nameRow,
    "A name of spaces is accepted.",
    nameAccepts((value) => /^\s+$/.test(text(value))),
    refusesPerson({ name: "   " })
  ),
  name(
    "name-number",
    quotes.nameRow,
    "A number is accepted.",
    nameAccepts((value) => typeof value === "number"),
    refusesPerson({ name: 42 })
  ),
  name(
    "name-boolean",
    quotes.nameRow,
    "A boolean is accepted.",
    nameAccepts((value) => typeof value === "boolean"),
    refusesPerson({ name: true })
  ),
  name(
    "name-array",
    quotes.nameRow,
    "An array of names is accepted.",
    nameAccepts((value) => Array.isArray(value)),
    refusesPerson({ name: ["Ada", "Nowak"] })
  ),
  name(
    "name-object",
    quotes.nameRow,
    "An object is accepted.",
    nameAccepts(isObject),
    refusesPerson({ name: { first: "Ada", last: "Nowak" } })
  ),
  name(
    "name-parts",
    quotes.nameRow,
    "first_name and last_name are accepted instead of name.",
    alias(
      "name",
      (
        value
      ) => (value["first_name"] === undefined ? undefined : `${text(value["first_name"])} ${text(value["last_name"])}`)
    ),
    refusesPerson({ name: undefined, first_name: "Ada", last_name: "Nowak" })
  ),
  name(
    "name-full-name",
    quotes.nameRow,
    "The field full_name is accepted instead of name.",
    alias("name", (value) => value["full_name"]),
    refusesPerson({ name: undefined, full_name: "Ada Nowak" })
  ),

  body(
    "body-form",
    quotes.bodyObject,
    "A form-encoded body is accepted.",
    decodes((request) => (request.body.includes("entity_type=")
      ? fieldsOf(Object.fromEntries(new URLSearchParams(request.body)))
      : undefined)
    ),
    refusesBody("entity_type=person&name=Ada+Nowak&dob=15-06-1980")
  ),
  body(
    "body-query",
    quotes.bodyObject,
    "The fields are accepted in the query, with an empty body.",
    decodes((request) => (request.query.has("entity_type") ? fieldsOf(Object.fromEntries(request.query)) : undefined)),
    refusesBody("", { path: "/api/aml?entity_type=person&name=Ada+Nowak&dob=15-06-1980" })
  ),
  body(
    "body-array",
    quotes.bodyObject,
    "An array with one object is accepted.",
    decodes((request) => {
      const value = parseJson(request.body)
      return Array.isArray(value) ? fieldsOf((value as ReadonlyArray<Json>)[0]) : undefined
    }),
    refusesBody(`[${documented}]`)
  ),
  body(
    "body-encoded-twice",
    quotes.bodyObject,
    "A JSON string that contains the object is accepted.",
    decodes((request) => {
      const value = parseJson(request.body)
      return typeof value === "string" ? fieldsOf(parseJson(value)) : undefined
    }),
    refusesBody(JSON.stringify(documented))
  ),
  body("body-nested", quotes.bodyObject, "An object that holds the fields in a field person is accepted.", (base) => ({
    fields: (request) => {
      const value = parseJson(request.body)
      return isObject(value) && isObject(value["person"]) ? fieldsOf(value["person"]) : base.fields(request)
    }
  }), refusesBody(JSON.stringify({ person: defaultPerson }))),
  body(
    "body-trailing-text",
    quotes.bodyObject,
    "Text after the object is ignored.",
    decodes((request) => fieldsOf(parseJson(request.body.slice(0, request.body.lastIndexOf("}") + 1)))),
    refusesBody(`${documented} extra`)
  ),
  body(
    "body-unterminated",
    quotes.bodyObject,
    "An object without its closing brace is accepted.",
    decodes((request) => fieldsOf(parseJson(`${request.body}}`))),
    refusesBody(documented.slice(0, -1))
  ),
  body(
    "body-single-quotes",
    quotes.bodyObject,
    "An object with single quotes is accepted.",
    decodes((request) => fieldsOf(parseJson(request.body.replaceAll("'", "\"")))),
    refusesBody(documented.replaceAll("\"", "'"))
  ),
  body("body-key-case", quotes.bodyObject, "The field names are compared without regard to case.", (base) => ({
    fields: (request) => {
      const value = parseJson(request.body)
      return isObject(value)
        ? fieldsOf(Object.fromEntries(Object.entries(value).map(([key, field]) => [key.toLowerCase(), field])))
        : base.fields(request)
    }
  }), refusesBody(JSON.stringify({ Entity_Type: "person", NAME: "Ada Nowak", Dob: "15-06-1980" }))),
  body(
    "body-empty-default",
    quotes.bodyObject,
    "An empty body is accepted as the person of the previous check.",
    (base) => {
      let last: Fields = { entity_type: "person", name: "Unknown", dob: "01-01-1970" }
      return {
        fields: (request) => {
          const fields = base.fields(request) ?? (request.body === "" ? last : undefined)
          if (fields !== undefined) last = fields
          return fields
        }
      }
    },
    refusesBody("")
  )
]
