import { mutants } from "./mutants.ts"
import { ID, KEY, Strict } from "./strict.ts"
import { envelope, hangup, portal, type Served, terse } from "./styles.ts"

const others: Record<string, (now: () => number) => Promise<Served>> = { envelope, portal, hangup, terse }

export const styles = ["strict", ...Object.keys(others)]

/** A correct server in a style, or the server in the style strict with a fault. */
export const serve = async (options: { style: string; now: () => number; fault?: string }): Promise<Served> => {
  const other = others[options.style]
  if (other && options.fault === undefined) return other(options.now)
  if (options.style !== "strict") throw new Error(`only strict takes a fault, and there is no style ${options.style} with one`)
  const server = new Strict(options.now)
  if (options.fault !== undefined) {
    const mutant = mutants.find((m) => m.id === options.fault)
    if (!mutant) throw new Error(`no fault ${options.fault}`)
    mutant.apply(server)
  }
  return { customerId: ID, customerKey: KEY, ...(await server.listen()) }
}
