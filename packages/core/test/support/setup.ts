/**
 * Runs before each test file, sets the seed of properties, and restores the methods of `it`, which all files of a worker share and `layer` of
 * `@effect/vitest` replaces.
 */
import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"
import "./cases.ts"

Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })
