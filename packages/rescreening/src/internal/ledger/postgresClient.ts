/** The PostgreSQL client of the ledger. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { Socket } from "node:net"

/**
 * The idle timeout in milliseconds, because a hanging network could block for hours. A statement that may take this long
 * needs {@link Patient}.
 */
const defaultSilence = 30_000

const socket = (silence: number) => () => {
  const socket = new Socket()
  return socket.setTimeout(silence, () => socket.destroy(new Error("The database is silent")))
}

/** Without an idle timeout. The operating system finds out that the network or the other machine is gone. */
const patientSocket = () => new Socket().setKeepAlive(true, defaultSilence)

/** A client for a statement that may take minutes, such as a vacuum. It connects when it is built. */
export class Patient extends Context.Tag("@effect-idv/rescreening/internal/PatientClient")<
  Patient,
  Layer.Layer<SqlClient.SqlClient, SqlError>
>() {}

export const layer = (
  url: Redacted.Redacted,
  silence = defaultSilence
): Layer.Layer<SqlClient.SqlClient | Patient, SqlError> => {
  const options = { url, connectTimeout: "10 seconds", applicationName: "idv-rescreen" } as const
  return Layer.merge(
    PgClient.layer({ ...options, stream: socket(silence) }),
    Layer.succeed(Patient, PgClient.layer({ ...options, stream: patientSocket, maxConnections: 1 }))
  )
}
