/** The PostgreSQL client of the ledger. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { Socket } from "node:net"

/** The idle timeout in milliseconds. No statement takes this long, but a hanging network could block for hours. */
const silence = 30_000

const socket = () => {
  const socket = new Socket()
  return socket.setTimeout(silence, () => socket.destroy(new Error("The database is silent")))
}

export const layer = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  PgClient.layer({ url, stream: socket, connectTimeout: "10 seconds", applicationName: "idv-rescreen" })
