/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The test persons, with buttons that copy their names. */
import * as TestPerson from "../../TestPerson.ts"
import { Badge, Copy, Panel, Table } from "./components.tsx"
import type { State } from "./pageModel.ts"

export const nameOf = ({ lastWord }: TestPerson.TestPerson): string => `Ada ${lastWord}`

const responseOf = ({ response }: TestPerson.Listed): string => typeof response === "string" ? response : response.kind

/** Test persons of the session. The page receives neither their names nor their dates of birth. */
const Own = ({ testPersons }: State) =>
  testPersons.length === 0
    ? <p class="empty">The session has no test persons of its own. The detail of a request adds one.</p>
    : (
      <Table
        kind="test-persons"
        id="own-persons"
        caption="Test persons of the session. The first that matches decides"
        columns={["Matched by", "Response", "Checks"]}
      >
        {testPersons.map((person, index) => (
          <tr key={index}>
            <th scope="row">{person.match.join(" and ")}</th>
            <td>{responseOf(person)}</td>
            <td class="count">{person.matched}</td>
          </tr>
        ))}
      </Table>
    )

export const TestPersonsPanel = (state: State) => (
  <Panel
    id="test-persons"
    title="Test persons"
    note={<span class="muted">the last word of the name selects the response</span>}
  >
    <Own {...state} />
    <Table kind="test-persons" caption="Reserved names, in every session" columns={["Name", "Response", "Action"]}>
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
    </Table>
  </Panel>
)
