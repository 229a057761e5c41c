/* eslint-disable no-restricted-syntax -- this configures Vitest, and is no program of Effect. */
/** The Vitest configuration of the mutation tests. `MUTATION_TESTS` lists the test files in the order in which they run. */
import { realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import config from "../../vitest.config.ts"

const requireOfVitest = createRequire(realpathSync(createRequire(import.meta.url).resolve("vitest/package.json")))
const { default: Tinypool } = await import(requireOfVitest.resolve("tinypool"))

// Vitest loads Effect and the sources in a new worker for each mutant, which takes longer than most tests. Here a worker
// runs twenty mutants. Only a mutant of a module's constant has a worker of its own, because a module is evaluated once.
const { recycleWorkers, run } = Tinypool.prototype
let [count, mutant, isStatic, ready] = [0, undefined, false, Promise.resolve()]
Tinypool.prototype.recycleWorkers = () => Promise.resolve()
Tinypool.prototype.run = async function(task, options) {
  const { activeMutant, mutantActivation } = task.providedContext
  if (mutant !== activeMutant) {
    const wasStatic = isStatic
    mutant = activeMutant
    isStatic = mutantActivation === "static"
    if (wasStatic || isStatic || ++count % 20 === 0) ready = recycleWorkers.call(this)
  }
  await ready
  return run.call(this, task, options)
}

const include = process.env.MUTATION_TESTS.split(",")
const position = ({ moduleId }) => include.findIndex((file) => moduleId.endsWith(file))

class InOrder {
  shard(files) {
    return files
  }
  sort(files) {
    return files.toSorted((a, b) => position(a) - position(b))
  }
}

/** StrykerJS overlooks a test file that cannot be loaded, because such a file has no tests. */
const loadReporter = {
  onFinished(files) {
    for (const file of files) {
      if (file.result?.state !== "fail" || file.tasks.length > 0) continue
      file.tasks.push({ type: "test", name: "loads", mode: "run", file, suite: file, tasks: [], result: file.result })
    }
  }
}

export default {
  ...config,
  test: {
    ...config.test,
    include,
    reporters: [loadReporter],
    setupFiles: [fileURLToPath(new URL("setup.mjs", import.meta.url)), config.test.setupFiles],
    sequence: { sequencer: InOrder }
  }
}
