import { Core, CUSTOMER_ID, CUSTOMER_KEY } from "./core.ts";
import { all } from "./styles.ts";
import { faults } from "./mutants.ts";

/** Correct implementations whose token response carries the token as `access_token`. */
export const styles = all.map((s) => s.name).filter((n) => n !== "foreign");
/** Correct to the letter of "Its fields: not shown": the token is not in a field named access_token. */
export const stretchStyles = ["foreign"];

export const serve = async (options: { style: string; now: () => number; fault?: string }) => {
  const style = all.find((s) => s.name === options.style);
  if (!style) throw new Error(`no style ${options.style}`);
  const core = new Core(style, options.now);
  if (options.fault !== undefined) {
    const apply = faults.get(options.fault);
    if (!apply) throw new Error(`no fault ${options.fault}`);
    apply(core);
  }
  const { url, close } = await core.listen();
  return { url, customerId: CUSTOMER_ID, customerKey: CUSTOMER_KEY, close };
};
