/** Judges of where a client writes or sends keys, tokens and persons. */
import type { Finding, Judge, Text } from "../day.ts"
import * as Secrets from "../secrets.ts"
import { each, found, redirecting } from "./judge.ts"

const places: Readonly<Record<Text["where"], string>> = {
  output: "its output",
  log: "its error output",
  response: "its response"
}

/** The client writes a key, a token or a person where others may read it. */
export const leaks: Judge = each(({ person, service, texts }) =>
  texts.flatMap(({ text, where }) => {
    const leak = (secret: RegExp, what: string): ReadonlyArray<Finding> =>
      !secret.test(text) ? [] : [{
        ...found(
          "wrong",
          `The client writes ${what} to ${places[where]}`,
          "Write none of it, and mask it in errors and in the objects of the HTTP library",
          where === "response"
            ? "CWE-209: an error message with sensitive information"
            : "CWE-532: insertion of sensitive information into a log file"
        ),
        line: Secrets.mask(text.split("\n").find((line) => secret.test(line)) ?? "", service, person).trim()
      }]
    return [
      ...leak(Secrets.ofKey(service), "the customer key"),
      ...leak(Secrets.token, "the access token"),
      // The output and the response are for the one who named the person.
      ...where === "log" ? leak(Secrets.ofPerson(person), "the name or the date of birth of a person") : []
    ]
  })
)

/** The client sends a key, a token or a person in the address or in a header, which access logs keep. */
export const headers: Judge = each(({ person, requests, service }) => {
  const secrets = [Secrets.ofKey(service), Secrets.token, Secrets.ofPerson(person)]
  const has = (text: string) => secrets.some((secret) => secret.test(text))
  return requests.flatMap((request) => [
    ...has(request.target) ? [found("wrong", ...inAddress, request)] : [],
    ...request.headers.some(has)
      ? [
        found(
          "risky",
          "The client sends the key, the token or the person in a header other than Authorization",
          "Send the key and the token in Authorization only, and the person in the body only",
          "CWE-532: insertion of sensitive information into a log file, such as the access log of a proxy",
          request
        )
      ]
      : []
  ])
})

export const inAddress = [
  "The client sends a key, a token or a person in the address",
  "Send the key and the token in the header Authorization, and the person in the body",
  "section 4.2; RFC 6750, section 5.3: do not pass bearer tokens in page URLs; RFC 6749, section 2.3.1"
] as const

/** The client follows a redirect to another host. */
export const redirects: Judge = each((check) =>
  check.requests.flatMap((request) => {
    const redirect = redirecting(request, check)
    return redirect === undefined ? [] : request.authorization !== undefined
      ? [
        found(
          "wrong",
          "The client follows a redirect to another host with its credentials",
          "Follow no redirects, or remove the header Authorization for another host",
          "RFC 9110, section 15.4: remove Authorization when the host of a redirect differs; RFC 6750, section 5.3",
          redirect
        )
      ]
      : request.name !== undefined
      ? [
        found(
          "risky",
          "The client follows a redirect to another host, and sends the person there",
          "Follow no redirects: the service document shows none",
          "section 1: the API has one address, {base_url}",
          redirect
        )
      ]
      : []
  })
)
