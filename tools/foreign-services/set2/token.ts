/** Token requests, their responses, the hour of a token, and the authorization of a check. */
import { Effect } from "effect"
import * as Change from "../changes.ts"
import { HOUR, isObject, MINUTE, parseJson, type Token } from "../service.ts"

const DAY = 24 * HOUR

const isSame = (at: number, other: number, length: number): boolean =>
  Math.floor(at / length) === Math.floor(other / length)

export const token: Change.Changes = {
  "tr-key-starts": Change.key((found, key) => found.startsWith(key)),
  "tr-key-colon": Change.key((found, key) => found.split(":")[0] === key.split(":")[0]),
  "tr-key-eight": Change.key((found, key) => found.slice(0, 8) === key.slice(0, 8)),
  "tr-key-case": Change.key((found, key) => found.toLowerCase() === key.toLowerCase()),
  "tr-key-plus": Change.key((found, key) => found.replaceAll("+", " ") === key.replaceAll("+", " ")),
  "tr-key-trim": Change.key((found, key) => found.trim() === key),
  "tr-no-header": Change.client((q) => q.headers.authorization === undefined),
  "tr-raw": (s, was) => ({
    basic: (q) => {
      const text = /^Basic (.*)$/.exec(q.headers.authorization ?? "")?.[1] ?? ""
      return s.pair(text) ?? was.basic(q)
    }
  }),
  "tr-scheme": (_s, was) => ({
    basic: (q) => {
      const authorization = q.headers.authorization?.replace(/^\S+/, "Basic")
      return was.basic({ ...q, headers: { ...q.headers, authorization } })
    }
  }),
  "tr-key-empty": Change.key((found, key) => found === "" || found === key),
  "tr-id-unchecked": Change.id(() => true),
  "tr-id-case": Change.id((found, id) => found.toLowerCase() === id.toLowerCase()),
  "tr-id-prefix": Change.id((found, id) => found !== "" && id.startsWith(found)),
  "tr-login-cached": Change.stateful(() => ({ seen: false }), (state) => (_s, was) => ({
    keyOk: (found) => (state.seen = state.seen || was.keyOk(found))
  })),
  "tr-login-conn": Change.loggedIn,
  "tr-tenth-wrong": (_s, was) => {
    let failures = 0
    return {
      keyOk: (found) => (failures = was.keyOk(found) ? 0 : failures + 1) % 10 === 0
    }
  },
  "tr-bearer": Change.client((q, s) => {
    const token = s.tokens.get(s.bearer(q) ?? "")
    return token !== undefined && s.alive(token, q.at, q)
  }),
  "tr-grant-missing": Change.grant((q) => !new URLSearchParams(q.body).has("grant_type")),
  "tr-grant-any": Change.grantType(() => true),
  "tr-grant-part": Change.grantType((value) => value.includes("client_credentials")),
  "tr-grant-empty": Change.grantType((value) => value === ""),
  "tr-grant-once": Change.stateful(() => ({ seen: false }), (state) => (_s, was) => ({
    grantIs: (value) => (state.seen = state.seen || was.grantIs(value))
  })),
  "tr-form-raw": () => ({ grantOk: (q) => q.body === "grant_type=client_credentials" }),
  "tr-json": (s, was) => ({
    typeOk: (q) => s.media(q).includes("json") || was.typeOk(q),
    grantOk: (q) => {
      const body = parseJson(q.body)
      return isObject(body) ? s.grantIs(String(body["grant_type"])) : was.grantOk(q)
    }
  }),
  "tr-type-unchecked": () => ({ typeOk: () => true }),
  "rs-third-lost": Change.stateful(
    () => Change.every(3),
    (isThird) => Change.onIssue((token, _q, s) => isThird() && s.tokens.delete(token.value))
  ),
  "rs-conn-empty": Change.stateful(
    () => new Set<number>(),
    (served) =>
      Change.tokenValue((value, _token, { connection }) => {
        const isSecond = served.has(connection)
        served.add(connection)
        return isSecond ? undefined : value
      })
  ),
  "rs-race": Change.stateful(
    (): { latest: Token | undefined } => ({ latest: undefined }),
    (state) =>
      Change.storesLate(25, (token, s) => {
        state.latest = token
        return () => state.latest && s.tokens.set(state.latest.value, state.latest)
      })
  ),
  "rs-case": Change.tokenValue((value, token, q, s) =>
    Change.tokensOf(s).some((older) => older !== token && s.alive(older, q.at, q)) ? value.toUpperCase() : value
  ),
  "rs-after-expiry": Change.stateful(
    () => Change.memory<string, Token>(),
    (memory) =>
      Change.tokenValue((value, token, q, s) => {
        const first = memory("first", () => token)
        return s.alive(first, q.at, q) ? value : first.value
      })
  ),
  "rs-after-refusal": Change.stateful(() => ({ refused: false }), (state) =>
    Change.all(
      Change.onRefusal(/client/, () => (state.refused = true)),
      Change.tokenValue((value) => {
        const found = state.refused ? null : value
        state.refused = false
        return found
      })
    )),
  "lt-30min": Change.lives(HOUR / 2),
  "lt-55min": Change.lives(55 * MINUTE),
  "lt-65min": Change.lives(65 * MINUTE),
  "lt-2h": Change.lives(2 * HOUR),
  "lt-idle": Change.onlyIf((token, q) => token.uses === 0 || q.at - token.last < 15 * MINUTE),
  "lt-unused": Change.onlyIf((token, q) => token.uses > 0 || q.at - token.at < 20 * MINUTE),
  "lt-clock-hour": Change.valid((token, at) => isSame(at, token.at, HOUR)),
  "lt-next-hour": Change.valid((token, at) => at - Math.ceil(token.at / HOUR) * HOUR < HOUR),
  "lt-midnight": Change.onlyIf((token, q) => isSame(q.at, token.at, DAY)),
  "lt-23h": Change.onlyIf((token) => new Date(token.at).getUTCHours() !== 23),
  "lt-next-day": Change.valid((token, at) => (at - token.at) % DAY < HOUR),
  "lt-refusal-renews": Change.renewedByRefusal,
  "lt-ten-uses": Change.onlyIf((token) => token.uses < 10),
  "lt-purge": Change.valid((token, at, s) =>
    at - token.at < HOUR || !Change.tokensOf(s).some((other) => other.at - token.at >= HOUR)
  ),
  "lt-conn": Change.stateful(() => new Map<number, string>(), (trusted) => (s, was) => ({
    session: (q) => {
      const value = s.bearer(q)
      if (value !== undefined && trusted.get(q.connection) === value) return s.tokens.get(value)
      const token = was.session(q)
      if (token !== undefined && value !== undefined) trusted.set(q.connection, value)
      return token
    }
  })),
  "lt-invalidates": Change.endsOthers,
  "lt-four": Change.keepsThree,
  "lt-reissued": Change.issuedAgain,
  "lt-shared-expiry": (s, was) => ({
    issue: (q) => {
      const live = Change.tokensOf(s).find((token) => s.alive(token, q.at, q))
      const token = was.issue(q)
      token.at = live?.at ?? token.at
      return token
    }
  }),
  "lt-renews-older": Change.renewsOthers,
  "lt-refused-extends": Change.onRefusal(/client/, (q, s) => {
    if (s.idOk(s.basic(q)?.[0] ?? "")) Change.renewAll(q, s)
  }),
  "lt-bad-check-kills": (s, was) => {
    const dead = new Set<Token>()
    return {
      person: (q) => {
        const person = was.person(q)
        const token = s.tokens.get(s.bearer(q) ?? "")
        if (person === undefined && token !== undefined) dead.add(token)
        return person
      },
      alive: (token, at, q) => !dead.has(token) && was.alive(token, at, q)
    }
  },
  "lt-second-server-hour": Change.valid((token, at, s) =>
    at - token.at < (token.at - s.started >= HOUR ? HOUR / 2 : HOUR)
  ),
  "lt-never": Change.valid(() => true),
  "lt-sliding": Change.valid((token, at) => at - token.last < HOUR),
  "lt-first-use": Change.fromFirstUse,
  "au-none": Change.open((q) => q.headers.authorization === undefined),
  "au-cache": Change.stateful(() => new Set<string>(), (seen) =>
    Change.session((token, q) => {
      if (seen.has(q.body)) return Change.guest(q)
      if (token !== undefined) seen.add(q.body)
      return token
    })),
  "au-clean-free": Change.open((q, s) =>
    q.headers.authorization === undefined && !s.listed(s.person(q)?.name ?? "Testpep")
  ),
  "au-ten-trusted": Change.stateful(() => ({ count: 0 }), (state) =>
    Change.session((token, q) => {
      if (token !== undefined) state.count += 1
      return token ?? (state.count >= 10 ? Change.guest(q) : undefined)
    })),
  "au-parallel": Change.stateful(
    (): { current: Token | undefined } => ({ current: undefined }),
    (state) => (_s, was) => ({
      session: (q) => q.headers.authorization === undefined ? state.current : state.current = was.session(q),
      lists: (check) =>
        Effect.zipRight(Effect.sleep(40), was.lists(check)).pipe(
          Effect.map(() => void (state.current = undefined))
        )
    })
  ),
  "au-expired-refusal": Change.stateful(() => new Set<number>(), (connections) =>
    Change.session((token, q, s) => {
      if (token === undefined && s.tokens.has(s.bearer(q) ?? "")) connections.add(q.connection)
      const isOpen = connections.has(q.connection) && q.headers.authorization === undefined
      return token ?? (isOpen ? Change.guest(q) : undefined)
    })),
  "au-any": (s) => ({ session: (q) => s.bearer(q) === undefined ? undefined : Change.guest(q) }),
  "au-prefix": Change.finds((found, issued) => found.length >= 16 && issued.slice(0, 16) === found.slice(0, 16)),
  "au-case": Change.finds((found, issued) => found.toLowerCase() === issued.toLowerCase()),
  "au-longer": Change.finds((found, issued) => found.startsWith(issued)),
  "au-null": Change.open((q, s) => /^(null|undefined)$/.test(s.bearer(q) ?? "")),
  "au-basic": Change.open((q, s) => s.clientOk(q)),
  "au-bare": Change.tokenIn((q) => /^\S+$/.exec(q.headers.authorization ?? "")?.[0]),
  "au-scheme": Change.tokenIn((q) => /^\S+ (\S+)$/.exec(q.headers.authorization ?? "")?.[1]),
  "au-conn": Change.stateful(() => new Map<number, Token>(), (users) =>
    Change.session((token, q) => {
      if (token !== undefined) users.set(q.connection, token)
      return token ?? (q.headers.authorization === undefined ? users.get(q.connection) : undefined)
    })),
  "au-foreign-conn": Change.onOneConnection,
  "au-locked": Change.stateful(() => new Set<Token>(), (busy) => (_s, was) => ({
    session: (q) => {
      const token = was.session(q)
      if (token === undefined || busy.has(token)) return undefined
      busy.add(token)
      return token
    },
    person: (q) => {
      const person = was.person(q)
      if (person === undefined) busy.clear()
      return person
    },
    search: (check) =>
      Effect.zipRight(Effect.sleep(25), was.search(check)).pipe(
        Effect.tap(() => Effect.sync(() => busy.delete(check.token)))
      )
  })),
  "au-two-tokens": Change.stateful(() => ({ newest: 0 }), (state) =>
    Change.session((token, _q, s) => {
      const order = token === undefined ? -1 : Change.tokensOf(s).indexOf(token)
      if (order < state.newest) return undefined
      state.newest = order
      return token
    }))
}
