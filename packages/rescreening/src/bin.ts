#!/usr/bin/env node
/** The `idv-rescreen` command. */
import * as RunMain from "@effect-idv/cli/runMain"
import { main } from "./internal/command/main.ts"

// The end of a terminal session stops the command like Ctrl-C, so that no row stays `sent`.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

RunMain.run(new URL("../package.json", import.meta.url), main)
