/** Servers that are right at first, and after some requests refuse whatever comes, or what came before. */
import * as Effect from "effect/Effect"
import * as Breaks from "./breaks.ts"
import * as Parts from "./parts.ts"
import { type Answer, type Mutant, of, type Request, type Wrapper } from "./wire.ts"

const refusal = (status: number): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: Parts.utf8("{\"error\":\"refused\"}")
})

/** After so many requests, all are refused. */
const after = (most: number, where: (request: Request) => boolean, status: number): Wrapper =>
  Breaks.remembering(() => ({ asked: 0 }), (kept) => (request, serve) => {
    if (!where(request)) return serve(request)
    kept.asked++
    return kept.asked > most ? Effect.succeed(refusal(status)) : serve(request)
  })

const forTimes = (most: number): Wrapper =>
  Breaks.remembering(() => new Map<string, number>(), (uses) => (request, serve) => {
    if (!Parts.isAml(request) || request.method !== "POST") return serve(request)
    const token = Parts.credentialOf(request)
    const used = (uses.get(token) ?? 0) + 1
    uses.set(token, used)
    return serve(used > most ? Parts.withAuthorization(request, "Bearer over") : request)
  })

export const mutants: ReadonlyArray<Mutant> = [
  of("token.request.grant-type", [
    ["locked", "refuses every token request after ten with 401", after(10, Parts.isToken, 401)],
    ["limited", "answers every token request after ten with 429", after(10, Parts.isToken, 429)]
  ]),
  of("token.lifetime", [
    ["once", "accepts a token once", forTimes(1)],
    ["four-times", "accepts a token four times", forTimes(4)]
  ]),
  of("aml.request.dob", [
    ["locked", "refuses every check after thirty with 401", after(30, Parts.isAml, 401)],
    ["forbidden", "refuses every check after thirty with 403", after(30, Parts.isAml, 403)],
    ["limited", "answers every check after thirty with 429", after(30, Parts.isAml, 429)]
  ])
].flat().map((mutant) => ({ ...mutant, isLate: true as const }))
