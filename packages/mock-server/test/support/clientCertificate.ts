/** A client certificate that signs itself. A server trusts it if its `ca` is the certificate. */
import { Effect } from "effect"
import { generate } from "selfsigned"

export const make = Effect.map(
  Effect.promise(() =>
    generate([{ name: "commonName", value: "acme-bank" }], {
      keyType: "ec",
      algorithm: "sha256",
      extensions: [{ name: "basicConstraints", cA: false }, { name: "extKeyUsage", clientAuth: true }]
    })
  ),
  ({ cert, private: key }) => ({ cert, key })
)
