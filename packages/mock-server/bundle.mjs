/** Bundles the command `idv-mock` for the package. */
import { fileURLToPath } from "node:url"
import { bundle } from "../cli/bundle.mjs"

await bundle({
  home: fileURLToPath(new URL(".", import.meta.url)),
  entries: { "idv-mock": "src/bin.ts" },
  // Seldom needed, or read from their own folders.
  external: ["htmx.org", "jose", "prom-client", "yaml"]
})
