import { layerPostgres } from "./support/databases.ts"
import { suite } from "./support/onboardingSuite.ts"

suite("onboarding-api on PostgreSQL", layerPostgres)
