#!/usr/bin/env node
/** The `idv-mock` command. */
import * as RunMain from "@effect-idv/cli/runMain"
import { main } from "./internal/command/main.ts"

RunMain.run(
  new URL("../package.json", import.meta.url),
  (words, version) => main(words, { stdout: process.stdout, version }),
  ["serve", "record"]
)
