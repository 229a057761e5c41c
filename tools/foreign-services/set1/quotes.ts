/** Sentences and table rows of the document, quoted verbatim by the mutants. */
export const quotes = {
  tokenNeeded: "Every API request needs an access token.",
  credentialsIssued: "The token is obtained with client credentials issued at onboarding.",
  mandatory: "Authentication is mandatory for all API requests.",
  basicRow:
    "| Authorization | yes | string | Basic followed by the base64 encoding of customer_id, a colon, and customer_key |",
  stepOne:
    "Step 1: send the token request (4.1) using customer_id as username and customer_key as password in the Basic authorization header, with grant_type set to client_credentials.",
  grantRow: "| grant_type | yes | string | client_credentials |",
  bearerRow: "| Authorization | yes | string | Bearer <ACCESS_TOKEN> |",
  stepTwo: "Step 2: send the obtained token as a Bearer token in the Authorization header of every API request.",
  validity: "The access token is valid for one hour from the moment it was requested.",
  lifetime: "Lifetime: one hour from the time it is requested.",
  tokenResponse: "Response: a token response carrying the access token.",
  keyRow: "| customer_key | string | Password for the token request. Issued in the onboarding pack. |",
  idRow: "| customer_id | string | Username for the token request. Issued in the onboarding pack. |",
  entityRow: "| entity_type | yes | string | Must be person for every individual AML check. |",
  nameRow: "| name | yes | string | Full name of the person, including any middle names. |",
  dobRow: "| dob | yes | string | Date of birth in the format dd-mm-yyyy. |",
  bodyObject: "Request body (a JSON object with these fields):",
  individualsOnly: "The call is used for individuals only.",
  response: "Response: the AML credential of section 2.3.",
  type: "| credential_type | string | Kind of credential. For the AML check it is the lowercase word aml. |",
  credentialName: "| credential_name | string | Display name of the credential. For the AML check it is AML. |",
  issuedBy: "| issued_by | string | Name of the issuing party. |",
  issuerId: "| issuer_id | string | Identifier of the issuer, in UUID format. |",
  version: "| cred_version | string | Version of the credential format, in major.minor form. |",
  credentials: "| credentials | object | Holder of the attributes. |",
  attributes: "| credentials.attributes | object | The AML result, with the fields below. |",
  name: "| name | string | Full name of the person that was searched. |",
  birthYear: "| birth_year | string | Four-digit year of birth. |",
  searchedOn: "| searched_on | string | Date and time of the search, in the form YYYY-MM-DD HH:MM:SS. |",
  matchFound: "| match_found | string | Allowed values: Potential match, No. |",
  profile: "| aml_profile | string | URL of the AML profile. It is present for both values of match_found. |",
  profileRule: "In both cases credentials.attributes.aml_profile is present.",
  matchRule:
    "When the call succeeds, the response contains credentials.attributes.match_found, which is either Potential match or No.",
  purpose:
    "It checks a natural person against politically-exposed-person (PEP) and sanctions lists and returns a credential that states whether a potential match was found."
} as const
