/** Starts `oauth2-mock-server`, which has only a token endpoint, and prints its address. */
import { OAuth2Server } from "oauth2-mock-server"

const server = new OAuth2Server(undefined, undefined, { endpoints: { token: "/oauth/service" } })

void server.issuer.keys.generate("RS256")
  .then(() => server.start(0, "127.0.0.1"))
  .then(() => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))
