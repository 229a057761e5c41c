/** The page `docs/options.md`, from the docstrings and the schemas of the options. To write it anew: `test -u` with this file. */
import { Idv, Violation } from "@effect-idv/core"
import { Run } from "@effect-idv/rescreening"
import { Array as Arr, Either, Function } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { assert, describe, expect, it } from "vitest"
import * as CheckOptions from "../../core/src/internal/check/checkOptions.ts"
import { variableOf } from "../../core/src/internal/schema/options.ts"
import * as TokenOptions from "../../core/src/internal/token/tokenOptions.ts"
import { root, sources } from "./support/documents.ts"

interface Field {
  readonly name: string
  /** The type, or nothing if it is that of a schema. */
  readonly type: string
  readonly byDefault: string
  /** The first sentence of the docstring. */
  readonly meaning: string
}

const firstSentence = (text: string) => /^.*?(?=\.(\s|$))/s.exec(text)?.[0].replaceAll(/\s+/g, " ") ?? text

const fieldsOf = (node: ts.Node, source: ts.SourceFile): ReadonlyArray<Field> => {
  const members: ReadonlyArray<ts.Node> = ts.isInterfaceDeclaration(node)
    ? node.members
    : ts.isObjectLiteralExpression(node)
    ? node.properties
    : []
  return members.flatMap((member) => {
    if (!ts.isPropertySignature(member) && !ts.isPropertyAssignment(member)) return []
    const [comment] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
    const textOf = (comment: ts.JSDoc["comment"]) =>
      ts.getTextOfJSDocComment(comment)?.replaceAll(/\{@link (\w+)\}/g, "`$1`")
    return [{
      name: member.name.getText(source),
      type: ts.isPropertySignature(member) ? member.type?.getText(source) ?? "" : "",
      byDefault: textOf(comment?.tags?.find(({ tagName }) => tagName.text === "default")?.comment) ?? "",
      meaning: firstSentence(textOf(comment?.comment) ?? "")
    }]
  })
}

/** The fields of an interface, or of the struct that a constant is. */
const options = (file: string, name: string): ReadonlyArray<Field> => {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, "packages", file), "utf8"),
    ts.ScriptTarget.Latest,
    true
  )
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === name) return fieldsOf(statement, source)
    if (!ts.isVariableStatement(statement)) continue
    const [declaration] = statement.declarationList.declarations
    const initializer = declaration?.initializer
    if (declaration?.name.getText(source) === name && initializer && ts.isCallExpression(initializer)) {
      const [struct] = initializer.arguments
      if (struct !== undefined) return fieldsOf(struct, source)
    }
  }
  throw new Error(`${file} has no ${name}`)
}

/** Removes from an expectation what the meaning or the default says too. */
const shortened = (expected: string) =>
  expected.replace(/^a (finite )?duration .*/, "duration").replace(/^the address .*/, "address")
    .replace(/^the customer .*/, "text").replace(/^an object$/, "see below").replace("a boolean", "true or false")
    .replaceAll(" | ", " or ")

/** What an option of the client must be, as its error says. */
const expectationOf = (name: string): string => {
  const [group = "", field] = name.split(".")
  const wrong = { [group]: field !== undefined ? { [field]: [] } : group === "tokenPolicy" ? "" : [{}] }
  const results = [
    Either.map(TokenOptions.check(wrong), Function.constVoid),
    Either.map(CheckOptions.check(wrong), Function.constVoid)
  ]
  const lines = Arr.getLefts(results).flatMap((error) => Idv.describeConfigError(error).split("\n"))
  const line = lines.find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}.`))
  assert(line !== undefined, `${name} accepts everything`)
  return shortened(line.replace(/^\S+ should be /, ""))
}

/** What an option of a run must be, as its error says. */
const expectationOfRun = (name: string): string =>
  Either.match(Violation.decodeUnknown(Run.Policy)({ [name]: [] }), {
    onLeft: ([{ expected }]) => shortened(expected),
    onRight: () => assert.fail(`${name} accepts everything`)
  })

/** The unit or the words of an option whose type says it. */
const valueOf = (type: string): string => {
  const value = type.replace(/ \| undefined$/, "")
  if (/duration/i.test(value)) return "duration"
  if (value === "boolean") return "true or false"
  if (value === "string" || value === "Redacted.Redacted<string>") return "text"
  return /^"|^number$/.test(value) ? value.replaceAll(" | ", " or ") : "–"
}

const cell = (text: string) => text.replaceAll("|", "\\|")

const isJson = (text: string) => Either.isRight(Either.try(() => JSON.parse(text)))

const code = (text: string) =>
  text === "undefined" ? "" : isJson(text) ? `\`${text}\`` : text.replace(/^undefined, /, "")

const table = (head: string, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [
    `| ${head} |`,
    `|${"---|".repeat(head.split("|").length)}`,
    ...rows.map((cells) => `| ${cells.map(cell).join(" | ")} |`)
  ].join("\n")

/** The options of the client, in the order of its schemas. */
const client = () => {
  const tokenPolicy = options("core/src/internal/token/tokenOptions.ts", "PolicyOptions")
  const documented = new Map(
    [
      ...options("core/src/TokenProvider.ts", "Settings"),
      ...options("core/src/internal/check/checkOptions.ts", "Options"),
      ...options("core/src/internal/token/credentials.ts", "CredentialOptions"),
      ...options("core/src/internal/check/checkOptions.ts", "PolicyOptions"),
      ...tokenPolicy.map((field) => ({ ...field, name: `tokenPolicy.${field.name}` }))
    ].map((field) => [field.name, field])
  )
  const names = new Set([
    ...Object.keys(TokenOptions.schema({}).fields),
    ...tokenPolicy.map(({ name }) => `tokenPolicy.${name}`),
    ...Object.keys(CheckOptions.schema({}).fields)
  ])
  return Array.from(names, (name) => {
    const { byDefault, meaning } = documented.get(name) ?? assert.fail(`${name} has no docstring`)
    return [
      `\`${name}\``,
      name.includes(".") ? "" : `\`${variableOf(name)}\``,
      expectationOf(name),
      code(byDefault),
      meaning
    ]
  })
}

const fields = (...groups: ReadonlyArray<ReadonlyArray<Field>>) =>
  table(
    "option | value | default | meaning",
    groups.flat().map(({ byDefault, meaning, name, type }) => {
      assert(meaning !== "", `${name} has no docstring`)
      return [`\`${name}\``, type === "" ? expectationOfRun(name) : valueOf(type), code(byDefault), meaning]
    })
  )

/** The variables that are not options of `Idv.layerEnv`. A test compares their names with the sources. */
const variables = [
  [
    "`HTTPS_PROXY`, `HTTP_PROXY`",
    "the proxy for `https:` and `http:` addresses, such as `http://user:password@proxy.example.com:3128`. `HTTP_PROXY` alone serves both. Lower case wins"
  ],
  [
    "`NO_PROXY`",
    "hosts to reach directly, with their subdomains, separated by commas; `*` for all. Loopback is always reached directly"
  ],
  ["`NODE_EXTRA_CA_CERTS`", "a PEM file of private CAs, which Node reads at its start"],
  ["`IDV_CLIENT_CERT`, `IDV_CLIENT_KEY`", "the PEM files of a client certificate, with its chain, and of its key"],
  [
    "`IDV_USER_AGENT`",
    "the `User-Agent`, such as `acme-bank/1.0`, instead of `effect-idv/<version>` or `idv-contract/<version>`"
  ],
  ["`IDV_RESCREEN_KEY`", "the [encryption keys](rescreening.md) of rescreening"],
  ["`DATABASE_URL`", "the [ledger](rescreening.md) of rescreening: `postgres://…`, or `file:///…` for SQLite"],
  ["`IDV_MOCK_CONTROL_TOKEN`", "the token of the [control API](mock-server.md) of a mock server"],
  ["`NODE_ENV`", "with `production`, the mock server does not start without `force`"]
]

const page = () =>
  `# Options

This page is generated from the code. Each command lists its flags with \`--help\`. A duration is a text such as \`30 seconds\`, or a number of milliseconds. An invalid option is an error that names it.

## Client

For \`Idv.layer\`. \`Idv.layerEnv\` reads the variable of each option that you do not pass. It contains the text or the JSON of the option, such as \`30 seconds\`, \`500\`, \`true\` or \`{"refreshAfter":0.5}\`. [Access token](tokens.md) explains the options up to \`tokenPolicy\`, [Screening people](checks.md) the others. \`AmlClient.withPolicy\` sets \`deadline\`, \`retry\`, \`nameEcho\` and \`searchedOnTolerance\` for one check.

${table("option | variable | value | default | meaning", client())}

In a program also \`sharing\`, which [shares the token](token-sharing.md) with other processes, and \`credentials\`, which [changes the key](tokens.md#credentials-that-change-at-runtime) at run time.

## Network

Variables of the commands, and of the clients that [Operating](operating.md#network) names.

${table("variable | meaning", variables)}

## Many people

For [\`Screening\`](checks.md#many-people).

${fields(options("core/src/Screening.ts", "Options"))}

## Web backend

For [\`WebError.onlyClear\`](checks.md#in-a-web-backend).

${fields(options("core/src/WebError.ts", "Options"), options("core/src/WebError.ts", "OnlyClearOptions"))}

## Shared token

For [\`TokenSharing\`](token-sharing.md).

${fields(options("core/src/TokenSharing.ts", "Options"))}

## Rescreening

For \`Rescreening.plan\` of [rescreening](rescreening.md):

${fields(options("rescreening/src/Rescreening.ts", "PlanOptions"), options("rescreening/src/Run.ts", "Policy"))}

For \`Rescreening.work\`:

${fields(options("rescreening/src/Rescreening.ts", "WorkOptions"))}

## Mock server

For \`MockServer.layer\` and the other layers of the [mock server](mock-server.md):

${
    fields(
      options("mock-server/src/internal/server/app.ts", "InProcessOptions"),
      options("mock-server/src/Session.ts", "Settings")
    )
  }

For a server on a port also:

${fields(options("mock-server/src/MockServer.ts", "Options"))}

## Contract suite

For a target of [\`Conformance.verify\`](contract.md):

${fields(options("contract/src/internal/target.ts", "Target"))}
`

describe("docs/options.md", () => {
  it("is what the code says", () => expect(page()).toMatchFileSnapshot(join(root, "docs/options.md")))

  it("has every variable that a package reads", () => {
    const read = new Set(
      sources.filter(({ path }) => !path.startsWith("packages/examples/"))
        .flatMap(({ text }) =>
          text.match(/(?<=["'\s`])(IDV_[A-Z]+(_[A-Z]+)*|[A-Z]+_PROXY|DATABASE_URL|NODE_\w+)(?=["'\s`=])/g) ?? []
        )
    )
    // A docstring has the variable of another client.
    read.delete("IDV_API_KEY")
    const text = page()
    assert.isAbove(read.size, 10)
    assert.deepStrictEqual([...read].filter((name) => !text.includes(`\`${name}\``)), [])
  })
})
