/** Bundles the command `idv-contract` for the package. */
import { fileURLToPath } from "node:url"
import { bundle } from "../cli/bundle.mjs"

await bundle({
  home: fileURLToPath(new URL(".", import.meta.url)),
  entries: { "idv-contract": "../cli/src/bin.ts" },
  external: ["yaml"]
})
