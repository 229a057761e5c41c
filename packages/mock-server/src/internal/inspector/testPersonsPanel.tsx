/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The reserved names, to copy. */
import * as TestPerson from "../../TestPerson.ts"
import { Badge, Copy, Panel } from "./components.tsx"

export const nameOf = ({ lastWord }: TestPerson.TestPerson): string => `Ada ${lastWord}`

export const SubjectsPanel = () => (
  <Panel id="subjects" title="Subjects" note={<span class="muted">the last word of a name decides</span>}>
    <table class="subjects">
      <caption class="hidden">The reserved names</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">What becomes of it</th>
          <th scope="col">
            <span class="hidden">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {TestPerson.reserved.map((subject) => (
          <tr key={subject.lastWord}>
            <th scope="row" class="mono">{nameOf(subject)}</th>
            <td>
              {subject.fault === undefined
                ? (
                  <Badge kind={subject.matchFound === "No" ? "clear" : "potential"}>
                    {subject.matchFound}
                  </Badge>
                )
                : <Badge kind="fault">{subject.fault.kind}</Badge>} {subject.description}
            </td>
            <td class="action">
              <Copy text={nameOf(subject)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Panel>
)
