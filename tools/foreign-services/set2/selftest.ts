// Every probe passes on all correct styles and fails on its mutant; every cited sentence stands in the document.
import { existsSync, readFileSync } from "node:fs";
import { mutants } from "./mutants.ts";
import { stretchStyles, styles } from "./service.ts";
import { withKit } from "./kit.ts";
import { tokenProbes } from "./probes-token.ts";
import { checkProbes } from "./probes-check.ts";
import { responseProbes } from "./probes-response.ts";

const probes = { ...tokenProbes, ...checkProbes, ...responseProbes };
const docFile = new URL("./api-document.md", import.meta.url);
// The document is not part of this repository.
const doc = existsSync(docFile) ? readFileSync(docFile, "utf8") : undefined;
const only = process.argv.slice(2);
const problems: string[] = [];
const areas = new Map<string, number>();
let runs = 0;
if (new Set(mutants.map((m) => m.id)).size !== mutants.length) problems.push("an id comes twice");
for (const id of Object.keys(probes)) if (!mutants.some((m) => m.id === id)) problems.push(`probe without mutant: ${id}`);
for (const m of mutants) {
  areas.set(m.area, (areas.get(m.area) ?? 0) + 1);
  if (doc !== undefined && !doc.includes(m.sentence)) problems.push(`${m.id}: sentence not in the document`);
  if (only.length && !only.includes(m.id)) continue;
  const probe = probes[m.id];
  if (!probe) { problems.push(`${m.id}: no probe`); continue; }
  for (const style of [...styles, ...stretchStyles]) {
    runs++;
    if (!(await withKit(style, undefined, probe))) problems.push(`${m.id}: probe fails on correct style ${style}`);
  }
  runs++;
  if (await withKit("strict", m.id, probe)) problems.push(`${m.id}: mutant not observed`);
}
for (const [a, n] of areas) console.log(`${a}: ${n}`);
console.log(`${mutants.length} mutants, styles ${styles.join(", ")} (+ ${stretchStyles.join(", ")}), ${runs} runs, ${problems.length} problems`);
for (const x of problems) console.log("  " + x);
process.exitCode = problems.length ? 1 : 0;
