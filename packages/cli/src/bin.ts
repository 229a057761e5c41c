#!/usr/bin/env node
/** The `idv-contract` command, which the package `@effect-idv/contract` contains as a bundle. */
import { main } from "./main.ts"
import * as RunMain from "./runMain.ts"

RunMain.run(new URL("../package.json", import.meta.url), main)
