/** Token requests, and the use and the hour of a token. */
import * as Change from "../changes.ts"
import { HOUR, type Incoming, MINUTE, type Service, type Token } from "../service.ts"

const SECOND = 1000
const DAY = 24 * HOUR
const nextHour = (time: number): number => (Math.floor(time / HOUR) + 1) * HOUR

/** The text after a scheme, and what the credentials of a request decode to. */
const after = (word: string, q: Incoming, s: Service): string => s.scheme(q.headers.authorization, word) ?? ""
const decoded = (q: Incoming, s: Service): string => s.decode64(after("Basic", q, s)) ?? ""

export const token: Change.Changes = {
  "login-absent": Change.client((q) => q.headers.authorization === undefined),
  "login-swapped": Change.client((q, s) => decoded(q, s) === `${s.customer.key}:${s.customer.id}`),
  "login-id-alone": Change.client((q, s) => decoded(q, s) === s.customer.id),
  "login-colon-absent": Change.client((q, s) => decoded(q, s) === s.customer.id + s.customer.key),
  "login-not-encoded": Change.credentialsIn((q, s) => s.pair(after("Basic", q, s))),
  "login-any-key": Change.key(() => true),
  "login-empty-key": Change.key((found, key) => found === "" || found === key),
  "login-key-prefix": Change.key((found, key) => found.length >= 8 && key.startsWith(found)),
  "login-key-suffix-ignored": Change.key((found, key) => found.startsWith(key)),
  "login-key-case": Change.key((found, key) => found.toLowerCase() === key.toLowerCase()),
  "login-key-length-only": Change.key((found, key) => found.length === key.length),
  "login-key-last-character": Change.key((found, key) =>
    found.length === key.length && found.slice(0, -1) === key.slice(0, -1)
  ),
  "login-key-trimmed": Change.key((found, key) => found.trim() === key),
  "login-key-is-id": Change.accepts((id, key, customer) => id === customer.id && key === customer.id),
  "login-key-cached": (_s, was) => {
    const known = new Set<string>()
    return {
      knows: (id, key) => {
        const correct = was.knows(id, key)
        if (correct) known.add(id)
        return correct || known.has(id)
      }
    }
  },
  "login-third-attempt": (_s, was) => {
    let failures = 0
    return {
      clientOk: (q) => {
        failures = was.clientOk(q) ? 0 : failures + 1
        return failures === 0 || failures === 3
      }
    }
  },
  "login-any-id": Change.id(() => true),
  "login-id-prefix": Change.id((found, id) => found.startsWith(id)),
  "login-empty-pair": Change.accepts((id, key) => id === "" && key === ""),
  "login-token-renewal": Change.client((q, s) =>
    s.tokens.has(/^bearer +(\S+)$/i.exec(q.headers.authorization ?? "")?.[1] ?? "")
  ),
  "login-token-in-refusal": Change.inRefusal(
    /./,
    (q, s) => q.path === "/oauth/service" ? { access_token: s.issue(q).value } : undefined
  ),
  "login-bearer-scheme": Change.credentialsIn((q, s) => s.pair(s.decode64(after("Bearer", q, s)) ?? "")),
  "login-in-body": Change.credentialsIn(
    (q) => {
      const form = new URLSearchParams(q.body)
      return [form.get("client_id") ?? "", form.get("client_secret") ?? ""]
    }
  ),
  "login-in-query": Change.credentialsIn(
    (q) => {
      const form = new URLSearchParams(q.query)
      return [form.get("customer_id") ?? "", form.get("customer_key") ?? ""]
    }
  ),
  "login-put-open": (_s, was) => ({
    methodOk: (q) => was.methodOk(q) || q.method === "PUT",
    clientOk: (q) => was.clientOk(q) || q.method === "PUT"
  }),
  "grant-absent": Change.grant((q) => q.body === ""),
  "grant-empty": Change.grant((q) => q.body === "grant_type="),
  "grant-password": Change.grant((q) => q.body === "grant_type=password&username=a&password=b"),
  "grant-authorization-code": Change.grant((q) => q.body === "grant_type=authorization_code&code=1"),
  "grant-refresh-token": Change.grant((q) => q.body === "grant_type=refresh_token&refresh_token=1"),
  "grant-upper-case": Change.grant((q) => q.body === "grant_type=CLIENT_CREDENTIALS"),
  "grant-prefix": Change.grant((q) => q.body === "grant_type=client_credentials_2"),
  "grant-hyphen": Change.grant((q) => q.body === "grant_type=client-credentials"),
  "grant-other-name": Change.grant((q) => q.body === "grantType=client_credentials"),
  "grant-any": Change.grant((q) => (new URLSearchParams(q.body).get("grant_type") ?? "") !== ""),
  "life-unlimited": Change.valid(() => true),
  "life-two-hours": Change.lives(2 * HOUR),
  "life-grace-five-minutes": Change.lives(HOUR + 5 * MINUTE),
  "life-grace-thirty-seconds": Change.lives(HOUR + 30 * SECOND),
  "life-59-minutes": Change.lives(HOUR - MINUTE),
  "life-unit": Change.lives(3600),
  "life-sixty-seconds": Change.lives(MINUTE),
  "life-sliding": Change.valid((token, at) => {
    const ok = at - token.at < HOUR
    if (ok) token.at = at
    return ok
  }),
  "life-sliding-near-end": Change.stateful(
    () => new Set<Token>(),
    (extended) =>
      Change.valid((token, at) => {
        const age = at - token.at
        if (age >= HOUR - 5 * MINUTE && age < HOUR) extended.add(token)
        return age < HOUR + (extended.has(token) ? 10 * MINUTE : 0)
      })
  ),
  "life-revived": Change.renewedByRefusal,
  "life-lazy-removal": Change.valid(
    (token, at, s) => {
      if (at - token.at >= HOUR) s.tokens.delete(token.value)
      return true
    }
  ),
  "life-from-first-use": Change.valid((token, at) => {
    if (token.uses === 0) token.at = at
    return at - token.at < HOUR
  }),
  "life-from-last-token": Change.valid((_token, at, s) => at - (Change.tokensOf(s).at(-1)?.at ?? -Infinity) < HOUR),
  "life-clock-hour": Change.valid((token, at) => at < nextHour(token.at)),
  "life-rounded-up": Change.valid((token, at) => at < nextHour(token.at + HOUR)),
  "life-midnight": Change.onlyIf((token, q) => Math.floor(q.at / DAY) === Math.floor(token.at / DAY)),
  "life-time-of-day": Change.valid((token, at) => (at - token.at) % DAY < HOUR),
  "life-minutes-only": Change.valid((token, at) => new Date(at).getUTCMinutes() >= new Date(token.at).getUTCMinutes()),
  "life-second-token": Change.valid((token, at, s) => at - token.at < (Change.tokensOf(s)[0] === token ? HOUR : DAY)),
  "life-requested": Change.valid((token, at) =>
    at - token.at < Number(new URLSearchParams(token.request.body).get("expires_in") ?? "3600") * SECOND
  ),
  "life-stale-clock": Change.valid((token, _at, s) => (Change.tokensOf(s).at(-1)?.at ?? Infinity) - token.at < HOUR),
  "life-known-person": (_s, was) => {
    const searched = new Set<string>()
    return {
      matches: (check) => {
        searched.add(check.token.value + check.request.body)
        return was.matches(check)
      },
      alive: (token, at, q) => was.alive(token, at, q) || searched.has(token.value + q.body)
    }
  },
  "life-keep-alive": (_s, was) => {
    const checked = new Set<number>()
    return {
      alive: (token, at, q) => {
        const ok = checked.has(q.connection) || was.alive(token, at, q)
        if (ok) checked.add(q.connection)
        return ok
      }
    }
  },
  "life-listed-person": (_s, was) => ({ alive: (token, at, q) => was.alive(token, at, q) || /testpep/i.test(q.body) }),
  "life-concurrent-uses": (_s, was) => {
    const refusedAt = new Map<Token, number>()
    return {
      alive: (token, at, q) => {
        if (was.alive(token, at, q)) return true
        const first = refusedAt.get(token) ?? -Infinity
        refusedAt.set(token, at)
        return at - first < 50
      }
    }
  },
  "life-day": Change.lives(DAY),
  "life-half-hour": Change.lives(HOUR / 2),
  "life-from-service-start": Change.valid((_token, at, s) => at - s.started < HOUR),
  "life-from-first-token": Change.valid((_token, at, s) => at - (Change.tokensOf(s)[0]?.at ?? -Infinity) < HOUR),
  "life-reissued": Change.issuedAgain,
  "use-once": Change.onlyIf((token) => token.uses < 1),
  "use-five-times": Change.onlyIf((token) => token.uses < 5),
  "use-second-refused": (_s, was) => {
    const seen = new Map<Token, number>()
    return {
      alive: (token, at, q) => {
        const count = (seen.get(token) ?? 0) + 1
        seen.set(token, count)
        return count !== 2 && was.alive(token, at, q)
      }
    }
  },
  "use-revoked-by-new-token": Change.onlyIf((token, _q, s) => Change.tokensOf(s).at(-1) === token),
  "use-three-tokens": Change.onlyIf((token, _q, s) => Change.tokensOf(s).slice(-3).includes(token)),
  "use-revoked-by-wrong-key": Change.onRefusal(/client|grant/, (_q, s) => s.tokens.clear()),
  "use-revoked-by-wrong-grant": Change.onRefusal(
    /client|grant/,
    (q, s) => q.body.includes("password") && s.tokens.clear()
  ),
  "use-revoked-by-wrong-date": Change.onRefusal(/body|fields/, (q, s) => s.tokens.delete(s.bearer(q) ?? "")),
  "use-revoked-by-unknown-token": (s, was) => ({
    find: (value) => {
      const token = was.find(value)
      if (token === undefined) s.tokens.clear()
      return token
    }
  }),
  "use-revoked-by-match": (s, was) => ({
    matches: (check) => {
      const match = was.matches(check)
      if (match) s.tokens.delete(check.token.value)
      return match
    }
  }),
  "use-not-yet-valid": Change.onlyIf((token, q) => q.at - token.at >= 2 * SECOND),
  "use-idle": Change.onlyIf((token, q) => q.at - token.last < 10 * MINUTE),
  "use-concurrent-requests": Change.onlyIf((token, _q, s) =>
    Change.tokensOf(s).filter(({ request }) => Math.abs(request.at - token.request.at) < 50).at(-1) === token
  ),
  "use-after-failed-login": Change.stateful(
    () => ({ failed: false }),
    (state) => (s, was) => ({
      ...Change.onRefusal(/client|grant/, () => (state.failed = true))(s, was),
      ...Change.onIssue((token) => {
        if (state.failed) s.tokens.delete(token.value)
        state.failed = false
      })(s, was)
    })
  ),
  "use-one-person": (_s, was) => {
    const names = new Map<Token, string>()
    return {
      alive: (token, at, q) => {
        const own = /"name":"([^"]*)"/.exec(q.body)?.[1] ?? ""
        const name = names.get(token) ?? own
        names.set(token, name)
        return name === own && was.alive(token, at, q)
      }
    }
  },
  "use-one-connection": Change.onOneConnection,
  "use-not-on-token-connection": Change.onlyIf((token, q) => token.request.connection !== q.connection),
  "use-user-agent": Change.onlyIf((token, q) => token.request.headers["user-agent"] === q.headers["user-agent"]),
  "use-response-truncated-token": Change.tokenValue((value) => value.slice(0, -1)),
  "use-response-with-scheme": Change.tokenValue((value) => `Bearer ${value}`),
  "use-response-unissued-token": Change.stateful(
    () => Change.every(2),
    (isSecond) => Change.tokenValue((value) => isSecond() ? [...value].reverse().join("") : value)
  ),
  "use-response-without-token": (_s, was) => {
    let count = 0
    return {
      tokenBody: (value, token, q) => (count += 1) === 2 ? { token_type: "Bearer" } : was.tokenBody(value, token, q)
    }
  }
}
