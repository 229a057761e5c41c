/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The test persons, with buttons that copy their names. */
import * as TestPerson from "../../TestPerson.ts"
import { Badge, Copy, Panel } from "./components.tsx"

export const nameOf = ({ lastWord }: TestPerson.TestPerson): string => `Ada ${lastWord}`

export const TestPersonsPanel = () => (
  <Panel
    id="test-persons"
    title="Test persons"
    note={<span class="muted">the last word of the name selects the response</span>}
  >
    <table class="test-persons">
      <caption class="hidden">The test persons</caption>
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
