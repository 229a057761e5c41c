// Sentences of api-document.md that the mutants break (the self-test checks that each stands in the document).
import type { Core } from "./core.ts";
export const S = {
  basic: "Basic followed by the base64 encoding of customer_id, a colon, and customer_key",
  step1: "send the token request (4.1) using customer_id as username and customer_key as password in the Basic authorization header, with grant_type set to client_credentials.",
  headerAuth: "| Authorization | yes | string | Basic followed by the base64 encoding of customer_id, a colon, and customer_key |",
  ctype: "| Content-Type | yes | string | application/x-www-form-urlencoded |",
  grant: "| grant_type | yes | string | client_credentials |",
  form: "Request body (form-encoded):",
  carry: "a token response carrying the access token.",
  life: "The access token is valid for one hour from the moment it was requested.",
  life2: "Lifetime: one hour from the time it is requested.",
  needs: "Every API request needs an access token.",
  mandatory: "Authentication is mandatory for all API requests.",
  two: "It takes two steps.",
  step2: "send the obtained token as a Bearer token in the Authorization header of every API request.",
  bearer: "| Authorization | yes | string | Bearer <ACCESS_TOKEN> |",
  json: "Request body (a JSON object with these fields):",
  entity: "| entity_type | yes | string | Must be person for every individual AML check. |",
  name: "| name | yes | string | Full name of the person, including any middle names. |",
  dob: "| dob | yes | string | Date of birth in the format dd-mm-yyyy. |",
  resp: "Response: the AML credential of section 2.3.",
  ctypeF: "Kind of credential. For the AML check it is the lowercase word aml.",
  cname: "Display name of the credential. For the AML check it is AML.",
  issuedBy: "| issued_by | string | Name of the issuing party. |",
  issuer: "Identifier of the issuer, in UUID format.",
  version: "Version of the credential format, in major.minor form.",
  creds: "| credentials | object | Holder of the attributes. |",
  attrs: "| credentials.attributes | object | The AML result, with the fields below. |",
  aname: "Full name of the person that was searched.",
  year: "Four-digit year of birth.",
  on: "Date and time of the search, in the form YYYY-MM-DD HH:MM:SS.",
  match: "Allowed values: Potential match, No.",
  profile: "URL of the AML profile. It is present for both values of match_found.",
  rule1: "When the call succeeds, the response contains credentials.attributes.match_found, which is either Potential match or No.",
  rule2: "In both cases credentials.attributes.aml_profile is present.",
  lists: "It checks a natural person against politically-exposed-person (PEP) and sanctions lists and returns a credential that states whether a potential match was found.",
};
export type Fault = { id: string; area: string; sentence: string; what: string; apply: (c: Core) => void };
export const MIN = 60_000;
export const HOUR = 60 * MIN;
export const wait = (ms: number) => new Promise<void>((f) => setTimeout(f, ms));
/** Replace one method; the old one is the first argument. */
export const wrap = (c: any, method: string, by: (old: (...a: any[]) => any, ...a: any[]) => any) => {
  const old = c[method].bind(c);
  c[method] = (...a: any[]) => by(old, ...a);
};
