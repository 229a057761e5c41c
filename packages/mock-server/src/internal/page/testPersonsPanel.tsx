/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The test persons, with buttons that copy their names. */
import * as TestPerson from "../../TestPerson.ts"
import { Badge, Copy, Panel } from "./components.tsx"
import type { State } from "./pageModel.ts"

export const nameOf = ({ lastWord }: TestPerson.TestPerson): string => `Ada ${lastWord}`

const responseOf = ({ response }: TestPerson.Listed): string => typeof response === "string" ? response : response.kind

/** Test persons of the session. The page receives neither their names nor their dates of birth. */
const Own = ({ testPersons }: State) =>
  testPersons.length === 0
    ? <p class="empty">The session has no test persons of its own. The detail of a request adds one.</p>
    : (
      <table class="test-persons" id="own-persons">
        <caption>Test persons of the session. The first that matches decides</caption>
        <thead>
          <tr>
            <th scope="col">Matched by</th>
            <th scope="col">Response</th>
            <th scope="col">Checks</th>
          </tr>
        </thead>
        <tbody>
          {testPersons.map((person, index) => (
            <tr key={index}>
              <th scope="row">{person.match.join(" and ")}</th>
              <td>{responseOf(person)}</td>
              <td class="count">{person.matched}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )

export const TestPersonsPanel = (state: State) => (
  <Panel
    id="test-persons"
    title="Test persons"
    note={<span class="muted">the last word of the name selects the response</span>}
  >
    <Own {...state} />
    <table class="test-persons">
      <caption>Reserved names, in every session</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Response</th>
          <th scope="col">
            <span class="hidden">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {TestPerson.reserved.map((person) => (
          <tr key={person.lastWord}>
            <th scope="row" class="mono">{nameOf(person)}</th>
            <td>
              {person.fault === undefined
                ? (
                  <Badge kind={person.matchFound === "No" ? "clear" : "potential"}>
                    {person.matchFound}
                  </Badge>
                )
                : <Badge kind="fault">{person.fault.kind}</Badge>} {person.description}
            </td>
            <td class="action">
              <Copy text={nameOf(person)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Panel>
)
