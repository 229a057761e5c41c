/** PostgreSQL, as the ledger needs it. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { Socket } from "node:net"

/** No statement of the ledger takes that long. A network that hangs would keep a connection for hours. */
const silence = 30_000

const socket = () => {
  const socket = new Socket()
  return socket.setTimeout(silence, () => socket.destroy(new Error("The database is silent")))
}

export const layer = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  PgClient.layer({ url, stream: socket, connectTimeout: "10 seconds", applicationName: "idv-rescreen" })
