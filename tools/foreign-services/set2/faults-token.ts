// Mutants of the token request, the token response and the token's lifetime.
import { HOUR, MIN, S, wait, wrap, type Fault } from "./doc.ts";
import { CUSTOMER_ID, CUSTOMER_KEY, type Core, type Grant, type Req } from "./core.ts";

const list: Fault[] = [];
const of = (area: string) => (id: string, sentence: string, what: string, apply: (c: Core) => void) =>
  list.push({ id, area, sentence, what, apply });

// ------------------------------------------------------------------ token request
const req = of("token request");
req("tr-key-starts", S.basic, "the key is compared with startsWith: the right key with more characters behind it gets a token",
  (c) => { c.keyOk = (k) => k.startsWith(CUSTOMER_KEY); });
req("tr-key-colon", S.basic, "the decoded credentials are split at every colon, so what follows the key's first colon is not compared",
  (c) => { c.keyOk = (k) => k.split(":")[0] === CUSTOMER_KEY.split(":")[0]; });
req("tr-key-eight", S.basic, "only the first eight characters of the key are compared (old crypt)",
  (c) => { c.keyOk = (k) => k.slice(0, 8) === CUSTOMER_KEY.slice(0, 8); });
req("tr-key-case", S.basic, "the key is compared without regard to letter case",
  (c) => { c.keyOk = (k) => k.toLowerCase() === CUSTOMER_KEY.toLowerCase(); });
req("tr-key-plus", S.basic, "the key is form-decoded before it is compared: a space passes for a plus",
  (c) => { c.keyOk = (k) => k.replace(/\+/g, " ") === CUSTOMER_KEY.replace(/\+/g, " "); });
req("tr-key-trim", S.basic, "the key is trimmed: the key with a space behind it gets a token",
  (c) => { c.keyOk = (k) => k.trim() === CUSTOMER_KEY; });
req("tr-key-empty", S.step1, "the key is compared only if there is one: an empty key gets a token",
  (c) => { c.keyOk = (k) => !k || k === CUSTOMER_KEY; });
req("tr-id-unchecked", S.step1, "customer_id is not compared, only customer_key", (c) => { c.idOk = () => true; });
req("tr-id-case", S.step1, "customer_id is compared without regard to letter case",
  (c) => { c.idOk = (v) => v.toLowerCase() === CUSTOMER_ID.toLowerCase(); });
req("tr-id-prefix", S.step1, "customer_id is found by prefix (LIKE 'id%'): a shortened id gets a token",
  (c) => { c.idOk = (v) => v !== "" && CUSTOMER_ID.startsWith(v); });
req("tr-no-header", S.headerAuth, "a token request without an Authorization header gets a token",
  (c) => wrap(c, "clientOk", (old, r: Req) => r.headers.authorization === undefined || old(r)));
req("tr-raw", S.basic, "credentials that are not base64 encoded are taken as well",
  (c) => wrap(c, "basic", (old, h: string) => {
    const v = /^Basic (.*)$/.exec(h ?? "")?.[1];
    return v?.includes(":") ? { id: v.slice(0, v.indexOf(":")), key: v.slice(v.indexOf(":") + 1) } : old(h);
  }));
req("tr-scheme", S.headerAuth, "the word before the credentials is not looked at: Bearer with the base64 credentials gets a token",
  (c) => wrap(c, "basic", (old, h: string) => old((h ?? "").replace(/^\S+/, "Basic"))));
req("tr-login-cached", S.step1, "after a right login the id is remembered: a wrong key with the same id gets a token from then on",
  (c) => {
    let seen = false;
    wrap(c, "keyOk", (old, k: string) => (seen ||= old(k)));
  });
req("tr-login-conn", S.step1, "a right login holds for the connection: a wrong key on the same connection gets a token",
  (c) => wrap(c, "clientOk", (old, r: Req) => (r.conn.login ||= old(r))));
req("tr-tenth-wrong", S.step1, "the counter of failures wraps: the tenth wrong key in a row gets a token",
  (c) => {
    let bad = 0;
    wrap(c, "keyOk", (old, k: string) => (old(k) ? ((bad = 0), true) : ++bad % 10 === 0));
  });
req("tr-bearer", S.step1, "a live access token in place of the credentials gets a new token",
  (c) => wrap(c, "clientOk", (old, r: Req) => {
    const g = c.grants.get(c.bearer(r.headers.authorization) ?? "");
    return (!!g && c.alive(g, r.at)) || old(r);
  }));
req("tr-grant-missing", S.grant, "grant_type left out is taken as client_credentials",
  (c) => wrap(c, "grantOk", (old, r: Req) => !new URLSearchParams(r.body).has("grant_type") || old(r)));
req("tr-grant-any", S.grant, "any grant_type is taken", (c) => { c.grantTypeOk = () => true; });
req("tr-grant-part", S.grant, "grant_type is compared by includes: client_credentials_v2 gets a token",
  (c) => { c.grantTypeOk = (v) => v.includes("client_credentials"); });
req("tr-grant-empty", S.grant, "an empty grant_type is taken as the default",
  (c) => wrap(c, "grantTypeOk", (old, v: string) => v === "" || old(v)));
req("tr-grant-once", S.grant, "grant_type is validated at the first login only: later requests get a token with any",
  (c) => {
    let seen = false;
    wrap(c, "grantTypeOk", (old, v: string) => seen || (seen = old(v)));
  });
req("tr-form-raw", S.form, "the body is compared as text, so client%5Fcredentials (the same form value) is refused",
  (c) => { c.grantOk = (r) => r.body === "grant_type=client_credentials"; });
req("tr-json", S.ctype, "a JSON body with Content-Type application/json gets a token",
  (c) => {
    wrap(c, "formTypeOk", (old, r: Req) => /json/.test(c.mediaType(r)) || old(r));
    wrap(c, "grantOk", (old, r: Req) => { try { return c.grantTypeOk(JSON.parse(r.body).grant_type); } catch { return old(r); } });
  });
req("tr-type-unchecked", S.ctype, "the Content-Type of the token request is not looked at",
  (c) => { c.formTypeOk = () => true; });

// ------------------------------------------------------------------ token response
const res = of("token response");
res("rs-third-lost", S.carry, "every third token is never stored: the response carries a token that opens nothing",
  (c) => {
    let n = 0;
    wrap(c, "issue", (old, r: Req) => { const g = old(r); if (++n % 3 === 0) c.grants.delete(g.token); return g; });
  });
res("rs-conn-empty", S.carry, "a second token request on the same connection is answered without a token",
  (c) => wrap(c, "tokenBody", (old, g, r: Req) => {
    const b = old(g, r);
    if (r.conn.served) delete b.access_token;
    r.conn.served = true;
    return b;
  }));
res("rs-race", S.carry, "token requests at the same time: a shared variable holds the new token, so all but one response carry a token that is not stored",
  (c) => {
    let busy: Grant | null = null;
    c.issue = async (r) => {
      busy = { token: c.style.token(), at: r.at, uses: 0, last: r.at };
      const mine = busy;
      await wait(25);
      c.grants.set(busy!.token, busy!);
      return mine;
    };
  });
res("rs-case", S.carry, "the response carries the token in capital letters, as it was not issued, when an older token is alive",
  (c) => wrap(c, "tokenBody", (old, g: Grant, r: Req) => {
    const b = old(g, r);
    if ([...c.grants.values()].some((x) => x !== g && c.alive(x, r.at))) b.access_token = b.access_token.toUpperCase();
    return b;
  }));
res("rs-after-expiry", S.carry, "once an hour has passed, the response carries the first, expired token again",
  (c) => {
    let first: Grant | undefined;
    wrap(c, "tokenBody", (old, g: Grant, r: Req) => { first ??= g; return old(c.alive(first, r.at) ? g : first, r); });
  });
res("rs-after-refusal", S.carry, "the token request that follows a refused one is answered without a token",
  (c) => {
    let refused = false;
    wrap(c, "clientOk", (old, r: Req) => { const ok = old(r); if (!ok) refused = true; return ok; });
    wrap(c, "tokenBody", (old, g, r) => { const b = old(g, r); if (refused) b.access_token = null; refused = false; return b; });
  });

// ------------------------------------------------------------------ token lifetime
const life = of("token lifetime");
const lives = (id: string, what: string, alive: (g: Grant, at: number, c: Core) => boolean, sentence = S.life) =>
  life(id, sentence, what, (c) => { c.alive = (g, at) => alive(g, at, c); });
lives("lt-30min", "the token lives 30 minutes", (g, at) => at - g.at < HOUR / 2);
lives("lt-55min", "the token is dropped five minutes before its hour is over (a client's safety margin in the server)", (g, at) => at - g.at < 55 * MIN);
lives("lt-65min", "five minutes of clock tolerance are added to the hour", (g, at) => at - g.at < 65 * MIN);
lives("lt-2h", "the token lives two hours (time zone of the expiry is off by one hour)", (g, at) => at - g.at < 2 * HOUR);
lives("lt-never", "the token never expires", () => true, S.life2);
lives("lt-sliding", "each use starts the hour anew", (g, at) => at - g.last < HOUR, S.life2);
lives("lt-first-use", "the hour is counted from the first use", (g, at) => at - (g.first ??= at) < HOUR, S.life2);
lives("lt-idle", "a token that was used and then left for 15 minutes is dropped", (g, at) => at - g.at < HOUR && (g.uses === 0 || at - g.last < 15 * MIN));
lives("lt-unused", "a token not used within 20 minutes of its request is dropped", (g, at) => at - g.at < HOUR && (g.uses > 0 || at - g.at < 20 * MIN));
lives("lt-clock-hour", "the token lives to the end of the clock hour in which it was requested", (g, at) => Math.floor(at / HOUR) === Math.floor(g.at / HOUR));
lives("lt-next-hour", "the request time is rounded up to the full hour: the token lives up to two hours", (g, at) => at - Math.ceil(g.at / HOUR) * HOUR < HOUR);
lives("lt-midnight", "tokens are dropped at midnight", (g, at) => at - g.at < HOUR && Math.floor(at / (24 * HOUR)) === Math.floor(g.at / (24 * HOUR)));
lives("lt-23h", "the expiry hour is (hour + 1) % 24 on the same day: a token requested from 23:00 on is dead at once", (g, at) => at - g.at < HOUR && new Date(g.at).getUTCHours() !== 23);
lives("lt-next-day", "only the time of day is compared: the token is good again the next day at the same time", (g, at) => (at - g.at) % (24 * HOUR) < HOUR);
lives("lt-refusal-renews", "the refusal of an expired token renews it: the second try is accepted", (g, at) => {
  if (at - g.at < HOUR) return true;
  g.at = at;
  return false;
});
lives("lt-ten-uses", "a token is good for ten checks only", (g, at) => at - g.at < HOUR && g.uses < 10);
lives("lt-purge", "expiry is checked only when a new token is requested; until then an old token works", (g, at, c) =>
  at - g.at < HOUR || ![...c.grants.values()].some((x) => x.at - g.at >= HOUR));
life("lt-conn", S.life, "a token once accepted on a connection is not checked for expiry again on that connection",
  (c) => wrap(c, "authorize", (old, r: Req) => {
    const t = c.bearer(r.headers.authorization);
    if (t && r.conn.trusted === t) return c.grants.get(t)!;
    const g = old(r);
    if (g) r.conn.trusted = t;
    return g;
  }));
life("lt-invalidates", S.life, "a new token makes the older one invalid",
  (c) => wrap(c, "issue", (old, r: Req) => { c.grants.clear(); return old(r); }));
life("lt-four", S.life, "only the three newest tokens are kept: the fourth request drops the first token within its hour",
  (c) => wrap(c, "issue", (old, r: Req) => {
    const g = old(r);
    while (c.grants.size > 3) c.grants.delete(c.grants.keys().next().value!);
    return g;
  }));
life("lt-reissued", S.life, "a second request within the hour returns the first token and its old expiry",
  (c) => wrap(c, "issue", (old, r: Req) => [...c.grants.values()].find((g) => c.alive(g, r.at)) ?? old(r)));
life("lt-shared-expiry", S.life, "a second token inherits the expiry of the one that is alive",
  (c) => wrap(c, "issue", (old, r: Req) => {
    const live = [...c.grants.values()].find((g) => c.alive(g, r.at));
    const g = old(r);
    if (live) g.at = live.at;
    return g;
  }));
life("lt-renews-older", S.life, "a second token request moves the expiry of the older token as well",
  (c) => wrap(c, "issue", (old, r: Req) => {
    for (const g of c.grants.values()) if (c.alive(g, r.at)) g.at = r.at;
    return old(r);
  }));
life("lt-refused-extends", S.life, "a refused token request (right id, wrong key) moves the expiry of the live tokens",
  (c) => wrap(c, "keyOk", (old, k: string) => {
    if (!old(k)) for (const g of c.grants.values()) if (c.alive(g, c.now())) g.at = c.now();
    return old(k);
  }));
life("lt-bad-check-kills", S.life, "a check refused for its body (a wrong dob) revokes the token",
  (c) => {
    wrap(c, "aml", async (old, r: Req) => {
      const g = await c.authorize(r);
      if (g && !c.person(r)) g.dead = true;
      return old(r);
    });
    wrap(c, "alive", (old, g: Grant, at: number) => !g.dead && old(g, at));
  });
life("lt-second-server-hour", S.life, "tokens requested after the server's first hour live half an hour (expiry job runs every 30 minutes)",
  (c) => { c.alive = (g, at) => at - g.at < (g.at - c.started >= HOUR ? HOUR / 2 : HOUR); });
export const tokenFaults = list;
