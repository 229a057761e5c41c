// Use of a token, its hour, several tokens of a customer, concurrency and caches, refusals that grant.
import { area, type Mutant } from "./define.ts"
import { S } from "./doc.ts"
import { HOUR, ID, KEY, sleep, type Person, type Rq, type Session, type Strict } from "./strict.ts"

const u = area("token use")
const e = area("token expiry")
const p = area("tokens of one customer")
const k = area("concurrency and caches")
const m = area("methods and paths")
const x = area("refusals that grant")
const MIN = 60_000
const auth = (q: Rq) => q.head.authorization ?? ""
/** Lets a request in that has no (good) bearer token, if this says so. */
const orElse = (s: Strict, ok: (q: Rq) => boolean) => {
  const was = s.session.bind(s)
  s.session = async (q) => (await was(q)) ?? (ok(q) ? { token: "", born: q.at, uses: 0 } : undefined)
}
/** Replaces when a token ends. */
const until = (s: Strict, end: (x: Session) => number) => {
  s.alive = (x, at) => at < end(x)
}
const onIssue = (s: Strict, f: (x: Session, q: Rq) => void) => {
  const was = s.issue.bind(s)
  s.issue = async (q) => {
    const x = await was(q)
    f(x, q)
    return x
  }
}
const all = (s: Strict) => [...s.sessions.values()]
const anyone = (q: Rq): Session => ({ token: "", born: q.at, uses: 0 })

export const state: ReadonlyArray<Mutant> = [
  u("u-no-header", S.mandatory, "if (header && !valid) refuse: without a header the check is open", (s) => orElse(s, (q) => auth(q) === "")),
  u("u-any", S.step2, "any bearer token of the right form is let through; the gateway was to verify it", (s) =>
    orElse(s, (q) => /^Bearer [\w-]{40}$/.test(auth(q)))),
  u("u-any-at-all", S.step2, "any Authorization header is let through", (s) => orElse(s, (q) => auth(q) !== "")),
  u("u-basic-direct", S.twoSteps, "the check takes the Basic header of the token request too", (s) =>
    orElse(s, (q) => s.basic(q) !== undefined && s.knows(...s.basic(q)!))),
  u("u-key-bearer", S.twoSteps, "customer_key is accepted as a bearer token (API key of the former version)", (s) =>
    orElse(s, (q) => auth(q) === `Bearer ${KEY}`)),
  u("u-id-bearer", S.twoSteps, "customer_id is accepted as a bearer token", (s) => orElse(s, (q) => auth(q) === `Bearer ${ID}`)),
  u("u-scheme-any", S.bearer, "the word before the token is not read: Token, Basic or JWT will do", (s) => {
    s.bearer = (q) => /^\S+ (\S+)$/.exec(auth(q))?.[1]
  }),
  u("u-bare", S.bearer, "replace(\"Bearer \", \"\"): the token alone is accepted", (s) => {
    s.bearer = (q) => auth(q).replace("Bearer ", "")
  }),
  u("u-no-space", S.bearer, "slice(7) after startsWith(\"Bearer\"): any character may stand between (Bearer:token)", (s) => {
    s.bearer = (q) => auth(q).startsWith("Bearer") ? auth(q).slice(7) : undefined
  }),
  u("u-query", S.step2, "access_token in the address is accepted", (s) => {
    s.queryOk = () => true
    const was = s.bearer.bind(s)
    s.bearer = (q) => was(q) ?? new URLSearchParams(q.query).get("access_token") ?? undefined
  }),
  u("u-body", S.step2, "access_token in the body is accepted", (s) => {
    s.keysOk = () => true
    const was = s.bearer.bind(s)
    s.bearer = (q) => was(q) ?? s.parse(q)?.access_token
  }),
  u("u-cookie", S.step2, "a cookie with the token is accepted", (s) => {
    const was = s.bearer.bind(s)
    s.bearer = (q) => was(q) ?? /(?:access_)?token=([^;\s]+)/.exec(q.head.cookie ?? "")?.[1]
  }),
  u("u-header", S.step2, "X-Access-Token (or X-Auth-Token) is accepted", (s) => {
    const was = s.bearer.bind(s)
    s.bearer = (q) => was(q) ?? ((q.head["x-access-token"] ?? q.head["x-auth-token"]) as string | undefined)
  }),
  u("u-case", S.step2, "tokens are compared without regard to case", (s) => {
    s.find = (t) => all(s).find((y) => y.token.toLowerCase() === t.toLowerCase())
  }),
  u("u-first-half", S.step2, "tokens are found by their first 20 characters; the signature behind them is not checked", (s) => {
    s.find = (t) => all(s).find((y) => y.token.slice(0, 20) === t.slice(0, 20))
  }),
  u("u-last-char", S.step2, "the last character does not count (bits of padding)", (s) => {
    s.find = (t) => all(s).find((y) => y.token.length === t.length && y.token.slice(0, -1) === t.slice(0, -1))
  }),
  u("u-second-half", S.step2, "only the second half is compared, the part after the key id", (s) => {
    s.find = (t) => all(s).find((y) => y.token.slice(20) === t.slice(20))
  }),
  u("u-longer", S.step2, "characters after the token do not count", (s) => {
    s.find = (t) => all(s).find((y) => t.startsWith(y.token))
  }),
  u("u-shorter", S.step2, "a beginning of the token of ten characters will do", (s) => {
    s.find = (t) => t.length < 10 ? undefined : all(s).find((y) => y.token.startsWith(t))
  }),
  u("u-undefined", S.step2, "\"Bearer undefined\", \"Bearer null\" and an empty token pass: the store was asked for no key", (s) =>
    orElse(s, (q) => /^Bearer ?(undefined|null|)$/.test(auth(q)))),
  u("u-last-issued", S.step2, "an unknown token is taken for the one issued last", (s) => {
    const was = s.find.bind(s)
    s.find = (t) => was(t) ?? all(s).at(-1)
  }),
  u("u-connection", S.step2, "a connection that has sent a good token need not send it again", (s) => {
    const was = s.session.bind(s)
    s.session = async (q) => (q.socket.session = (await was(q)) ?? (auth(q) === "" ? q.socket.session : undefined))
  }),
  u("u-after-login", S.step2, "the token request signs the connection in, so the check needs no token on it", (s) => {
    onIssue(s, (y, q) => void (q.socket.session = y))
    orElse(s, (q) => auth(q) === "" && q.socket.session !== undefined)
  }),
  u("u-once", S.hour, "a token is good for one check", (s) => {
    const was = s.alive.bind(s)
    s.alive = (y, at) => was(y, at) && y.uses < 1
  }),
  u("u-five", S.hour, "a token is good for five checks", (s) => {
    const was = s.alive.bind(s)
    s.alive = (y, at) => was(y, at) && y.uses < 5
  }),
  u("u-burnt", S.hour, "a refused check (bad body) throws its token away", (s) => {
    const was = s.read.bind(s)
    s.read = (q) => {
      const y = was(q)
      if (!y) s.sessions.delete(s.bearer(q) ?? "")
      return y
    }
  }),
  u("u-conn-bound", S.hour, "a token works only on the connection it first was used on", (s) => {
    const was = s.session.bind(s)
    s.session = async (q) => {
      const y = await was(q)
      if (y) y.socket ??= q.socket
      return y && y.socket === q.socket ? y : undefined
    }
  }),
  u("u-agent-bound", S.hour, "a token works only with the User-Agent that requested it", (s) => {
    onIssue(s, (y, q) => void (y.agent = q.head["user-agent"]))
    const was = s.session.bind(s)
    s.session = async (q) => {
      const y = await was(q)
      return y && y.agent === q.head["user-agent"] ? y : undefined
    }
  }),
  u("u-idle", S.hour, "a token not used for twenty minutes dies", (s) => {
    const was = s.session.bind(s)
    s.session = async (q) => {
      const y = await was(q)
      if (y && q.at - (y.last ?? y.born) > 20 * MIN) return void s.sessions.delete(y.token)
      if (y) y.last = q.at
      return y
    }
  }),

  e("e-never", S.hour, "tokens do not expire", (s) => until(s, () => Infinity)),
  e("e-day", S.limit, "tokens live for a day", (s) => until(s, (y) => y.born + 24 * HOUR)),
  e("e-two", S.limit, "the end is computed in local time, one hour ahead: two hours", (s) => until(s, (y) => y.born + 2 * HOUR)),
  e("e-half", S.hour, "tokens live for half an hour", (s) => until(s, (y) => y.born + HOUR / 2)),
  e("e-early", S.hour, "the server itself subtracts the minute of safety that is the client's business", (s) => until(s, (y) => y.born + 59 * MIN)),
  e("e-five-early", S.hour, "the token cache drops tokens at 55 minutes", (s) => until(s, (y) => y.born + 55 * MIN)),
  e("e-leeway-5", S.hour, "the JWT library's default of five minutes of leeway", (s) => until(s, (y) => y.born + 65 * MIN)),
  e("e-leeway-1", S.hour, "a minute of leeway for wrong clocks", (s) => until(s, (y) => y.born + 61 * MIN)),
  e("e-leeway-10s", S.hour, "ten seconds of leeway for wrong clocks", (s) => until(s, (y) => y.born + HOUR + 10_000)),
  e("e-millis", S.hour, "3600 is taken for milliseconds", (s) => until(s, (y) => y.born + 3600)),
  e("e-seconds-as-minutes", S.limit, "3600 is taken for minutes", (s) => until(s, (y) => y.born + 3600 * MIN)),
  e("e-sliding", S.life, "every check starts the hour anew", (s) => {
    until(s, (y) => (y.last ?? y.born) + HOUR)
    const was = s.session.bind(s)
    s.session = async (q) => {
      const y = await was(q)
      if (y) y.last = q.at
      return y
    }
  }),
  e("e-first-use", S.life, "the hour starts with the first check", (s) => {
    s.alive = (y, at) => at < (y.first ??= at) + HOUR
  }),
  e("e-refused-use", S.life, "a refused check (good token, bad body) starts the hour anew", (s) => {
    const was = s.read.bind(s)
    s.read = (q) => {
      const y = was(q)
      const x = s.sessions.get(s.bearer(q) ?? "")
      if (!y && x) x.born = q.at
      return y
    }
  }),
  e("e-clock-hour", S.hour, "the signing key changes on the hour and takes its tokens with it", (s) =>
    until(s, (y) => (Math.floor(y.born / HOUR) + 1) * HOUR)),
  e("e-two-keys", S.limit, "the former signing key is accepted for the whole next hour of the clock", (s) =>
    until(s, (y) => (Math.floor(y.born / HOUR) + 2) * HOUR)),
  e("e-sweep", S.limit, "expired tokens are removed by a job every ten minutes, and until then they work", (s) =>
    until(s, (y) => Math.ceil((y.born + HOUR) / (10 * MIN) + 1e-9) * 10 * MIN)),
  e("e-introspection", S.hour, "a good answer about a token is cached for five minutes", (s) => {
    const was = s.alive.bind(s)
    s.alive = (y, at) => {
      if (at < (y.cached ?? 0)) return true
      if (was(y, at)) y.cached = at + 5 * MIN
      return was(y, at)
    }
  }),
  e("e-time-of-day", S.hour, "only the time of day is compared, so a token works again the next day", (s) => {
    s.alive = (y, at) => (at - y.born) % (24 * HOUR) < HOUR
  }),
  e("e-used-forever", S.hour, "the job that removes expired tokens skips those that were used", (s) => {
    const was = s.alive.bind(s)
    s.alive = (y, at) => y.uses > 0 || was(y, at)
  }),
  e("e-start", S.hour, "the hour of every token counts from the start of the process (keys generated then)", (s) => {
    s.alive = (y, at) => Math.floor((at - s.started) / HOUR) === Math.floor((y.born - s.started) / HOUR)
  }),
  e("e-second-try", S.hour, "an expired token is refused once, and the refusal renews it", (s) => {
    const was = s.alive.bind(s)
    s.alive = (y, at) => {
      const ok = was(y, at)
      if (!ok) y.born = at
      return ok
    }
  }),
  e("e-wrap", S.hour, "the age is kept in a signed 32-bit number of milliseconds, negative after 25 days", (s) => {
    s.alive = (y, at) => ((at - y.born) | 0) < HOUR
  }),

  p("p-single", S.hour, "a new token ends the one before", (s) => {
    const was = s.issue.bind(s)
    s.issue = (q) => {
      s.sessions.clear()
      return was(q)
    }
  }),
  p("p-three", S.hour, "a customer has at most three tokens; the oldest is dropped", (s) =>
    onIssue(s, () => {
      if (s.sessions.size > 3) s.sessions.delete(s.sessions.keys().next().value!)
    })),
  p("p-cached", S.hour, "a token request in the hour of a token answers with that token, and its hour is not renewed", (s) => {
    const was = s.issue.bind(s)
    s.issue = (q) => all(s).find((y) => s.alive(y, q.at)) ?? was(q)
  }),
  p("p-shared-end", S.hour, "the hour belongs to the customer: a second token ends with the first", (s) =>
    onIssue(s, (y, q) => {
      if (q.at - (s.memo.born ?? -Infinity) >= HOUR) s.memo.born = q.at
      y.born = s.memo.born
    })),
  p("p-extend", S.life, "a new token extends the others that are still alive", (s) =>
    onIssue(s, (_, q) => all(s).forEach((y) => s.alive(y, q.at) && (y.born = q.at)))),
  p("p-resurrect", S.life, "expiry is looked up at the customer: a new token makes the expired ones work again", (s) => {
    onIssue(s, (_, q) => void (s.memo.born = q.at))
    s.alive = (_, at) => at - s.memo.born < HOUR
  }),
  p("p-failed-login", S.hour, "a token request with a wrong key ends the customer's tokens", (s) => {
    const was = s.knows.bind(s)
    s.knows = (i, key) => {
      const ok = was(i, key)
      if (!ok && i === ID) s.sessions.clear()
      return ok
    }
  }),
  p("p-failed-grant", S.hour, "a refused grant_type ends the customer's tokens", (s) => {
    const was = s.grantOk.bind(s)
    s.grantOk = (q) => was(q) || (s.sessions.clear(), false)
  }),
  p("p-unknown-token", S.hour, "an unknown token is taken for theft and ends all tokens", (s) => {
    const was = s.find.bind(s)
    s.find = (t) => {
      const y = was(t)
      if (!y && t.length > 20) s.sessions.clear()
      return y
    }
  }),
  p("p-expired-use", S.hour, "the use of an expired token signs the customer out", (s) => {
    const was = s.alive.bind(s)
    s.alive = (y, at) => was(y, at) || (s.sessions.clear(), false)
  }),
  p("p-new-kills-busy", S.hour, "a token that has been used is replaced by the next token request", (s) =>
    onIssue(s, (y) => all(s).forEach((z) => z !== y && z.uses > 0 && s.sessions.delete(z.token)))),

  k("k-name-cross", S.rName, "the name is kept in a variable of the module during the search: concurrent checks mix", (s) => {
    s.lists = async (y) => {
      s.memo.name = y.name
      await sleep(12)
    }
    s.echo = () => s.memo.name
  }),
  k("k-dob-cross", S.year, "the date of birth is kept in a variable of the module during the search", (s) => {
    s.lists = async (y) => {
      s.memo.dob = y.dob
      await sleep(12)
    }
    s.year = () => s.memo.dob.slice(6)
  }),
  k("k-cache-name", S.year, "results are cached by name alone for ten minutes, so a namesake gets the other's birth_year", (s) =>
    cached(s, (y) => y.name, (hit) => hit)),
  k("k-cache-fold", S.rName, "results are cached by the name without case and marks, and returned with the first spelling", (s) =>
    cached(s, (y) => y.name.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase() + y.dob, (hit) => hit)),
  k("k-cache-dob", S.rName, "results are cached by date of birth", (s) => cached(s, (y) => y.dob, (hit) => hit)),
  k("k-cache-time", S.time, "a person searched in the last ten minutes gets the former answer, searched_on included", (s) =>
    cached(s, (y) => JSON.stringify(y), (hit) => hit)),
  k("k-cache-token", S.rName, "answers are cached per token for a second (key: path and Authorization)", (s) => {
    const was = s.screen.bind(s)
    s.screen = async (y, z, q) => {
      if (z.answer && q.at - z.answered < 1000) return z.answer
      z.answered = q.at
      return (z.answer = await was(y, z, q))
    }
  }),
  k("k-cache-length", S.rName, "the key of the cache is a weak hash: the length of the body", (s) =>
    cached(s, (y) => String(y.name.length), (hit) => hit)),
  k("k-cache-open", S.mandatory, "the cache in front of the service answers a repeated body before the token is looked at", (s) => {
    const was = s.check.bind(s)
    const seen = new Map<string, any>()
    s.check = async (q) => {
      const hit = seen.get(q.text)
      if (hit) return hit
      const a = await was(q)
      if (a.status === 200) seen.set(q.text, a)
      return a
    }
  }),
  k("k-flight", S.rName, "checks at the same time with the same dob share one search and its answer", (s) => {
    const was = s.screen.bind(s)
    const flying = new Map<string, Promise<any>>()
    s.lists = () => sleep(12)
    s.screen = (y, z, q) => {
      const now = flying.get(y.dob) ?? was(y, z, q).finally(() => flying.delete(y.dob))
      flying.set(y.dob, now)
      return now
    }
  }),
  k("k-session-cross", S.every, "whether the caller is known is kept in a variable during a database call", (s) => {
    const was = s.session.bind(s)
    s.session = async (q) => {
      s.memo.caller = await was(q)
      await sleep(12)
      return s.memo.caller
    }
  }),
  k("k-token-lost", S.hour, "read, change, write: of token requests at the same time only the last is kept", (s) => {
    s.issue = async (q) => {
      const copy = new Map(s.sessions)
      const y: Session = { token: s.mint(), born: q.at, uses: 0 }
      copy.set(y.token, y)
      await sleep(12)
      s.sessions = copy
      return y
    }
  }),
  k("k-replica", S.hour, "a token reaches the replica that checks it after 150 ms", (s) => {
    onIssue(s, (y) => void (y.real = performance.now()))
    const was = s.alive.bind(s)
    s.alive = (y, at) => was(y, at) && performance.now() - y.real > 150
  }),
  k("k-poison", S.answer, "after a refused check the transaction stays aborted, and the next good check is refused", (s) => {
    const was = s.read.bind(s)
    s.read = (q) => {
      const y = s.memo.aborted ? undefined : was(q)
      s.memo.aborted = !y && !s.memo.aborted
      return y
    }
  }),
  k("k-regexp", S.dob, "a global regular expression remembers where it stopped: every second good dob is refused", (s) => {
    const re = /^(\d{2})-(\d{2})-(\d{4})$/g
    s.dobOk = (v) => typeof v === "string" && s.dateOk(re.exec(v))
  }),
  k("k-remember", S.json, "the request object is reused: a missing field has the value of the check before", (s) => {
    const was = s.parse.bind(s)
    s.parse = (q) => {
      const o = was(q)
      return o && typeof o === "object" && !Array.isArray(o) ? { ...(s.memo.last = { ...s.memo.last, ...o }) } : o
    }
  }),
  k("k-profile-late", S.rule2, "the profile is made in the background: the first check of a person has none", (s) => {
    const seen = new Set<string>()
    const was = s.attributes.bind(s)
    s.attributes = (y, z, q) => {
      const a = was(y, z, q)
      const key = y.name + y.dob
      if (!seen.has(key)) delete a.aml_profile
      seen.add(key)
      return a
    }
  }),
  k("k-pending", S.rule1, "the first check of a person is Pending, the result comes with the next", (s) => {
    const seen = new Set<string>()
    const was = s.verdict.bind(s)
    s.verdict = (y) => seen.has(y.name) ? was(y) : (seen.add(y.name), "Pending")
  }),
  k("k-busy", S.match, "when the list provider is busy (more than one search) the result is Unknown", (s) => {
    s.memo.n = 0
    const [screen, verdict] = [s.screen.bind(s), s.verdict.bind(s)]
    s.lists = () => sleep(12)
    s.screen = async (y, z, q) => {
      s.memo.n++
      try {
        return await screen(y, z, q)
      } finally {
        s.memo.n--
      }
    }
    s.verdict = (y) => s.memo.n > 1 ? "Unknown" : verdict(y)
  }),

  m("m-token-get", S.tokenPost, "GET with the parameters in the address grants a token", (s) => {
    s.methodOk = (q) => q.method === "POST" || (q.method === "GET" && q.path === "/oauth/service")
    const [query, form, type] = [s.queryOk.bind(s), s.form.bind(s), s.formOk.bind(s)]
    s.queryOk = (q) => q.method === "GET" || query(q)
    s.formOk = (q) => q.method === "GET" || type(q)
    s.form = (q) => q.method === "GET" ? [...new URLSearchParams(q.query)] : form(q)
  }),
  m("m-token-all", S.tokenPost, "app.all: PUT, PATCH and DELETE grant a token too", (s) => {
    s.methodOk = (q) => q.method === "POST" || q.path === "/oauth/service"
  }),
  m("m-aml-all", S.amlPost, "app.all: PUT, PATCH, DELETE and GET with a body are checks too", (s) => {
    s.methodOk = (q) => q.method === "POST" || q.path === "/api/aml"
  }),
  m("m-aml-get", S.amlPost, "GET with the fields in the address is a check", (s) => {
    s.methodOk = (q) => q.method === "POST" || (q.method === "GET" && q.path === "/api/aml")
    const [query, parse, type] = [s.queryOk.bind(s), s.parse.bind(s), s.jsonOk.bind(s)]
    s.queryOk = (q) => q.method === "GET" || query(q)
    s.jsonOk = (q) => q.method === "GET" || type(q)
    s.parse = (q) => q.method === "GET" ? Object.fromEntries(new URLSearchParams(q.query)) : parse(q)
  }),
  m("m-put-open", S.mandatory, "the guard is bound to POST, the handler to every method: PUT needs no token", (s) => {
    s.methodOk = (q) => q.method === "POST" || q.path === "/api/aml"
    orElse(s, (q) => q.method !== "POST")
  }),
  m("m-put-token-open", S.obtained, "the guard of the token endpoint is bound to POST: PUT needs no credentials", (s) => {
    s.methodOk = (q) => q.method === "POST" || q.path === "/oauth/service"
    const was = s.clientOk.bind(s)
    s.clientOk = (q) => q.method !== "POST" || was(q)
  }),
  m("m-override", S.amlPost, "X-HTTP-Method-Override makes a GET a POST", (s) => {
    s.methodOk = (q) => q.method === "POST" || q.head["x-http-method-override"] === "POST"
  }),
  m("m-aml-form", S.json, "a form is read as well as JSON", (s) => {
    const [parse, type] = [s.parse.bind(s), s.jsonOk.bind(s)]
    const form = (q: Rq) => s.media(q) === "application/x-www-form-urlencoded"
    s.jsonOk = (q) => form(q) || type(q)
    s.parse = (q) => form(q) ? Object.fromEntries(new URLSearchParams(q.text)) : parse(q)
  }),
  m("m-aml-query", S.json, "the fields may be in the address of the POST", (s) => {
    s.queryOk = () => true
    const [parse, type] = [s.parse.bind(s), s.jsonOk.bind(s)]
    s.jsonOk = (q) => q.text === "" || type(q)
    s.parse = (q) => ({ ...Object.fromEntries(new URLSearchParams(q.query)), ...parse(q) })
  }),

  x("x-token-401", S.step1, "a wrong key is answered with 401, and the body holds a working token nevertheless", (s) => {
    refusal(s, "invalid_client", async (q) => s.tokenBody(await s.issue(q)))
  }),
  x("x-grant-400", S.grant, "a wrong grant_type is answered with 400 and a working token", (s) => {
    refusal(s, "unsupported_grant_type", async (q) => s.tokenBody(await s.issue(q)))
  }),
  x("x-type-415", S.formType, "a wrong Content-Type is answered with 415 and a working token", (s) => {
    refusal(s, "unsupported_media_type", async (q) => s.tokenBody(await s.issue(q)))
  }),
  x("x-last-token", S.obtained, "the refusal of a token request shows the token issued last, for support", (s) => {
    refusal(s, "invalid_client", async () => ({ access_token: all(s).at(-1)?.token }))
  }),
  x("x-debug", S.obtained, "a refused grant answers with a dump of the server's state, tokens included", (s) => {
    refusal(s, "unsupported_grant_type", async () => ({ debug: { sessions: all(s).map((y) => y.token) } }))
    refusal(s, "invalid_client", async () => ({ debug: { sessions: all(s).map((y) => y.token) } }))
  }),
  x("x-header-token", S.obtained, "a wrong key is answered with 401 without a body and a working token in X-Access-Token", (s) => {
    const was = s.token.bind(s)
    s.token = async (q) => {
      const a = await was(q)
      return a.status === 401 ? { ...a, headers: { ...a.headers, "X-Access-Token": (await s.issue(q)).token } } : a
    }
  }),
  x("x-no-token-credential", S.mandatory, "a check without a token is answered with 401 and the credential", (s) =>
    refusal(s, "invalid_token", async (q) => auth(q) ? {} : result(s, q))),
  x("x-expired-credential", S.hour, "a check with an expired token is answered with 401 and the credential", (s) =>
    refusal(s, "invalid_token", async (q) => s.sessions.has(s.bearer(q) ?? "") ? result(s, q) : {})),
  x("x-unknown-credential", S.step2, "a check with an unknown token is answered with 401 and the credential", (s) =>
    refusal(s, "invalid_token", async (q) => auth(q) && !s.sessions.has(s.bearer(q) ?? "") ? result(s, q) : {})),
  x("x-entity-credential", S.entity, "an entity_type that is not person is answered with 400, and the search is done and returned", (s) =>
    refusal(s, "invalid_request", async (q) => s.parse(q)?.entity_type !== "person" ? result(s, q) : {})),
  x("x-dob-credential", S.dob, "a wrong dob is answered with 422 and a credential of the name alone", (s) =>
    refusal(s, "invalid_request", async (q) => s.dobOk(s.parse(q)?.dob) ? {} : result(s, q))),
  x("x-warning", S.dob, "a wrong dob is only a warning: 200, the credential, and warnings beside it", (s) => {
    s.dobOk = () => true
    s.year = (d) => /\d{4}/.exec(String(d))?.[0] ?? null
    const was = s.credential.bind(s)
    s.credential = (y, z, q) => ({ ...was(y, z, q), warnings: ["dob"] })
  }),
  x("x-method-credential", S.amlPost, "PUT is answered with 405, and the body is the result of the check", (s) =>
    refusal(s, "method_not_allowed", async (q) => q.path === "/api/aml" ? result(s, q) : {})),
  x("x-unknown-second", S.step2, "an unknown token is refused and noted, and the second try finds it", (s) => {
    const was = s.find.bind(s)
    const noted = new Set<string>()
    s.find = (t) => was(t) ?? (noted.has(t) ? { token: t, born: s.now(), uses: 0 } : void noted.add(t))
  })
]

function cached(s: Strict, key: (y: Person) => string, use: (hit: any) => any) {
  const store = new Map<string, { at: number; a: any }>()
  const was = s.credential.bind(s)
  s.credential = (y, z, q) => {
    const hit = store.get(key(y))
    if (hit && q.at - hit.at < 10 * MIN) return use(hit.a)
    const a = was(y, z, q)
    store.set(key(y), { at: q.at, a })
    return a
  }
}
/** Adds something to the body of a refusal; the status remains. */
function refusal(s: Strict, error: string, more: (q: Rq) => Promise<object>) {
  const was = s.handle.bind(s)
  s.handle = async (q) => {
    const a = await was(q)
    const o = a.status >= 400 ? JSON.parse(a.body) : {}
    return o.error === error ? { ...a, body: JSON.stringify({ ...o, ...(await more(q)) }) } : a
  }
}
function result(s: Strict, q: Rq): object {
  const o = s.parse(q)
  if (typeof o?.name !== "string") return {}
  const dob = typeof o.dob === "string" ? o.dob : ""
  return { ...s.credential({ entity_type: "person", name: o.name, dob }, anyone(q), q) }
}
