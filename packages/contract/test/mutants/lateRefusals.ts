/** Servers that refuse every request after some time, or a token after some uses. */
import * as Effect from "effect/Effect"
import * as Changes from "./changes.ts"
import * as Messages from "./messages.ts"
import { type Mutant, of, type Request, type Response, type Wrapper } from "./model.ts"

const refusal = (status: number): Response => ({
  status,
  headers: { "content-type": "application/json" },
  body: Messages.utf8("{\"error\":\"refused\"}")
})

/** Refuses the selected requests after the first `most` of them. */
const refuseAfter = (most: number, where: (request: Request) => boolean, status: number): Wrapper =>
  Changes.withState(() => ({ received: 0 }), (state) => (request, serve) => {
    if (!where(request)) return serve(request)
    state.received++
    return state.received > most ? Effect.succeed(refusal(status)) : serve(request)
  })

const acceptUses = (most: number): Wrapper =>
  Changes.withState(() => new Map<string, number>(), (uses) => (request, serve) => {
    if (!Messages.isAml(request) || request.method !== "POST") return serve(request)
    const token = Messages.credentialOf(request)
    const used = (uses.get(token) ?? 0) + 1
    uses.set(token, used)
    return serve(used > most ? Messages.withAuthorization(request, "Bearer over") : request)
  })

export const mutants: ReadonlyArray<Mutant> = [
  of("token.request.grant-type", [
    ["locked", "refuses every token request after ten with 401", refuseAfter(10, Messages.isToken, 401)],
    ["limited", "responds to every token request after ten with 429", refuseAfter(10, Messages.isToken, 429)]
  ]),
  of("token.lifetime", [
    ["once", "accepts a token once only", acceptUses(1)],
    ["four-times", "accepts a token four times only", acceptUses(4)]
  ]),
  of("aml.request.dob", [
    ["locked", "refuses every check after thirty with 401", refuseAfter(30, Messages.isAml, 401)],
    ["forbidden", "refuses every check after thirty with 403", refuseAfter(30, Messages.isAml, 403)],
    ["limited", "responds to every check after thirty with 429", refuseAfter(30, Messages.isAml, 429)]
  ])
].flat().map((mutant) => ({ ...mutant, isLate: true as const }))
