import { messages } from "./mutants-messages.ts"
import { request } from "./mutants-request.ts"
import { state } from "./mutants-state.ts"
import { token } from "./mutants-token.ts"

export const mutants = [...token, ...state, ...request, ...messages]
