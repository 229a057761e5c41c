/**
 * Before each test file: `layer` of `@effect/vitest` puts methods of its own into the `it` that all
 * files of a worker share.
 */
import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"

Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })
