/**
 * Bundles each public module with the engine, which is the client for Effect 3 with its Effect 3. Effect 4 stays a peer
 * dependency, and Undici an ordinary one.
 */
import { build } from "esbuild"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const home = fileURLToPath(new URL(".", import.meta.url))
