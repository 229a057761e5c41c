import { inject } from "vitest"

// The mutant of the previous run must not be active while a test file is loaded. StrykerJS activates the next one later,
// except one of a module's constant, which it has activated already.
if (inject("mutantActivation") !== "static") globalThis.__stryker__.activeMutant = undefined
