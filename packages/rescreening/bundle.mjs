/** Bundles the command `idv-rescreen` for the package. */
import { fileURLToPath } from "node:url"
import { bundle } from "../cli/bundle.mjs"

await bundle({
  home: fileURLToPath(new URL(".", import.meta.url)),
  entries: { "idv-rescreen": "src/bin.ts" },
  // Native, or optional.
  external: ["libsql", "pg-boss", "pg-native"]
})
