import { tokenFaults } from "./faults-token.ts";
import { checkFaults } from "./faults-check.ts";
import { responseFaults } from "./faults-response.ts";
import { stateFaults } from "./faults-state.ts";

const list = [...tokenFaults, ...checkFaults, ...responseFaults, ...stateFaults];
export const faults = new Map(list.map((f) => [f.id, f.apply]));
export const mutants: ReadonlyArray<{ id: string; area: string; sentence: string; what: string }> =
  list.map(({ id, area, sentence, what }) => ({ id, area, sentence, what }));
