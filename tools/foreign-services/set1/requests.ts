import { isObject, parseJson } from "./hooks.ts"
import type { Json, Outgoing, PersonFields, Reply } from "./types.ts"

export const basic = (text: string): string => `Basic ${Buffer.from(text, "utf8").toString("base64")}`

const form = "application/x-www-form-urlencoded"

export const defaultPerson: PersonFields = { entity_type: "person", name: "Ada Maria Nowak", dob: "15-06-1980" }
export const listedPerson: PersonFields = { entity_type: "person", name: "Ines Luz Testpep", dob: "07-11-1962" }

export const tokenIn = (reply: Reply): string | undefined => {
  const value: Json | undefined = parseJson(reply.text)
  const token = isObject(value) ? value["access_token"] : undefined
  return typeof token === "string" && token !== "" ? token : undefined
}

/** Returns the documented token request. */
export const tokenRequest = (authorization: string): Outgoing => ({
  method: "POST",
  path: "/oauth/service",
  headers: { "Content-Type": form, Authorization: authorization },
  body: "grant_type=client_credentials"
})
