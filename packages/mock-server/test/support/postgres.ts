/** The PostgreSQL server that all processes of a test run share. */
import { inject } from "vitest"
import * as Postgres from "../../../../tools/test-services/Postgres.ts"

export const shared = Postgres.shared(inject("programs"))
