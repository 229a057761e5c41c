// Mutants of the check's authorization and of its request fields.
import { HOUR, S, wait, wrap, type Fault } from "./doc.ts";
import { CUSTOMER_ID, CUSTOMER_KEY, type Core, type Grant, type Req } from "./core.ts";

const list: Fault[] = [];
const of = (area: string) => (id: string, sentence: string, what: string, apply: (c: Core) => void) =>
  list.push({ id, area, sentence, what, apply });
const guest = (): Grant => ({ token: "", at: 0, uses: 0, last: 0 });

// ------------------------------------------------------------------ check authorization
const au = of("check authorization");
au("au-none", S.mandatory, "a check without an Authorization header is answered",
  (c) => wrap(c, "authorize", (old, r: Req) => (r.headers.authorization === undefined ? guest() : old(r))));
au("au-any", S.step2, "any Bearer value is taken", (c) => { c.authorize = (r) => (c.bearer(r.headers.authorization) ? guest() : null); });
au("au-prefix", S.step2, "the token is looked up by its first 16 characters: a cut or longer token is taken",
  (c) => { c.find = (t) => [...c.grants.values()].find((g) => t.length >= 16 && g.token.slice(0, 16) === t.slice(0, 16)); });
au("au-case", S.step2, "the token is looked up without regard to letter case",
  (c) => { c.find = (t) => [...c.grants.values()].find((g) => g.token.toLowerCase() === t.toLowerCase()); });
au("au-longer", S.step2, "the token with further characters behind it is taken",
  (c) => { c.find = (t) => [...c.grants.values()].find((g) => t.startsWith(g.token)); });
au("au-basic", S.two, "the client credentials themselves (Basic) open the check without a token",
  (c) => wrap(c, "authorize", (old, r: Req) => {
    const b = c.basic(r.headers.authorization);
    return b && b.id === CUSTOMER_ID && b.key === CUSTOMER_KEY ? guest() : old(r);
  }));
au("au-bare", S.bearer, "the token without the word Bearer is taken",
  (c) => wrap(c, "bearer", (old, h: string) => (/^\S+$/.test(h ?? "") ? h : old(h))));
au("au-scheme", S.bearer, "the word before the token is not looked at", (c) => { c.bearer = (h) => /^\S+ (\S+)$/.exec(h ?? "")?.[1] ?? null; });
au("au-null", S.step2, "the words null and undefined pass for a token",
  (c) => wrap(c, "find", (old, t: string) => (t === "null" || t === "undefined" ? { ...guest(), at: c.now() } : old(t))));
au("au-conn", S.needs, "after one authorized check, checks without a token on the same connection are answered",
  (c) => wrap(c, "authorize", (old, r: Req) => {
    const g = old(r);
    if (g) r.conn.user = g;
    return g ?? (r.headers.authorization === undefined ? r.conn.user ?? null : null);
  }));
au("au-cache", S.mandatory, "a person who was searched before is answered from a cache in front of the authorization",
  (c) => {
    const seen = new Set<string>();
    wrap(c, "authorize", (old, r: Req) => {
      if (seen.has(r.body)) return guest();
      const g = old(r);
      if (g) seen.add(r.body);
      return g;
    });
  });
au("au-clean-free", S.mandatory, "the token is needed only to report a match: others get their No without one",
  (c) => wrap(c, "authorize", (old, r: Req) => old(r) ?? (r.headers.authorization === undefined && !c.listed(c.person(r)?.name ?? "Testpep") ? guest() : null)));
au("au-ten-trusted", S.mandatory, "after ten good checks the client is trusted and needs no token",
  (c) => {
    let n = 0;
    wrap(c, "authorize", (old, r: Req) => { const g = old(r); if (g) n++; return g ?? (n >= 10 ? guest() : null); });
  });
au("au-parallel", S.mandatory, "a check without a token is answered while an authorized one is under way (shared variable for the caller)",
  (c) => {
    let current: Grant | null = null;
    wrap(c, "authorize", (old, r: Req) => (r.headers.authorization === undefined ? current : (current = old(r))));
    wrap(c, "lists", async (old, ...a) => { await wait(40); await old(...a); current = null; });
  });
au("au-foreign-conn", S.life, "a token works only on the connection that used it first",
  (c) => wrap(c, "authorize", (old, r: Req) => {
    const g = old(r);
    if (g && (g.conn ??= r.conn) !== r.conn) return null;
    return g;
  }));
au("au-locked", S.life, "a token is locked while a check is under way: a second check at the same time is refused",
  (c) => {
    wrap(c, "authorize", (old, r: Req) => { const g = old(r); if (!g || g.busy) return null; g.busy = true; return g; });
    wrap(c, "person", (old, r: Req) => { const p = old(r); if (!p) for (const g of c.grants.values()) g.busy = false; return p; });
    wrap(c, "search", async (old, p, r, g) => { await wait(25); const o = await old(p, r, g); g.busy = false; return o; });
  });
au("au-two-tokens", S.life, "with two tokens alive, a check with the older one is refused once the newer one has been used",
  (c) => {
    let newest = 0;
    const order = new Map<string, number>();
    wrap(c, "issue", (old, r: Req) => { const g = old(r); order.set(g.token, order.size); return g; });
    wrap(c, "authorize", (old, r: Req) => {
      const g = old(r);
      if (!g || order.get(g.token)! < newest) return null;
      newest = order.get(g.token)!;
      return g;
    });
  });
au("au-expired-refusal", S.mandatory, "after an expired token is refused on a connection, the next check there without a token is answered",
  (c) => wrap(c, "authorize", (old, r: Req) => {
    const t = c.bearer(r.headers.authorization);
    const g = old(r);
    if (!g && t && c.grants.has(t)) r.conn.renew = true;
    return g ?? (r.conn.renew && r.headers.authorization === undefined ? guest() : null);
  }));

// ------------------------------------------------------------------ check request
const rq = of("check request");
const entity = (id: string, what: string, ok: (v: any, c: Core) => boolean) => rq(id, S.entity, what, (c) => { c.entityOk = (v) => ok(v, c); });
entity("rq-entity-missing", "entity_type left out is taken as person", (v) => v === undefined || v === "person");
entity("rq-entity-any", "any entity_type is taken", (v) => typeof v === "string");
entity("rq-entity-case", "entity_type is compared without regard to letter case", (v) => String(v).toLowerCase() === "person");
entity("rq-entity-prefix", "entity_type is compared by its beginning: personal is taken", (v) => String(v).startsWith("person"));
entity("rq-entity-loose", "entity_type is compared with ==: the array [\"person\"] is taken", (v) => v == "person"); // eslint-disable-line
entity("rq-entity-trim", "entity_type is trimmed: \" person \" is taken", (v) => String(v).trim() === "person");
entity("rq-entity-empty", "an empty entity_type is taken", (v) => v === "" || v === "person");
rq("rq-entity-known", S.entity, "entity_type is not checked for a person who was searched before",
  (c) => {
    const seen = new Set<string>();
    wrap(c, "person", (old, r: Req) => {
      const o = c.parse(r);
      const p = old(seen.has(o?.name) ? { ...r, body: JSON.stringify({ ...o, entity_type: "person" }) } : r);
      if (p) seen.add(p.name);
      return p;
    });
  });
const missing = (id: string, sentence: string, what: string, method: string, ok: (v: any) => boolean) =>
  rq(id, sentence, what, (c) => {
    wrap(c, method, (old, v, r) => ok(v) || old(v, r));
    wrap(c, "person", (old, r: Req) => { const p = old(r); return p && { ...p, name: String(p.name ?? ""), dob: String(p.dob ?? "") }; });
  });
missing("rq-name-missing", S.name, "a check without a name is answered", "nameOk", (v) => v === undefined);
missing("rq-name-number", S.name, "a name that is a number is turned into text", "nameOk", (v) => typeof v === "number");
missing("rq-name-empty", S.name, "an empty name is searched", "nameOk", (v) => v === "");
missing("rq-dob-missing", S.dob, "a check without dob is answered", "dobOk", (v) => v === undefined);
missing("rq-dob-null", S.dob, "dob null passes as not given", "dobOk", (v) => v === null);
missing("rq-dob-empty", S.dob, "an empty dob passes as not given", "dobOk", (v) => v === "");
missing("rq-dob-iso", S.dob, "dob in the order yyyy-mm-dd is taken as well", "dobOk", (v) => /^\d{4}-\d\d-\d\d$/.test(v));
missing("rq-dob-slash", S.dob, "dob with slashes is taken as well", "dobOk", (v) => /^\d\d\/\d\d\/\d{4}$/.test(v));
missing("rq-dob-dots", S.dob, "dob with any separator is taken (the dot of the pattern)", "dobOk", (v) => /^\d\d.\d\d.\d{4}$/.test(v));
missing("rq-dob-short", S.dob, "dob without leading zeros is taken", "dobOk", (v) => /^\d{1,2}-\d{1,2}-\d{4}$/.test(v));
missing("rq-dob-yy", S.dob, "dob with a two-digit year is taken", "dobOk", (v) => /^\d\d-\d\d-\d\d$/.test(v));
missing("rq-dob-tail", S.dob, "the pattern of dob is not anchored at its end: text behind the year is taken", "dobOk", (v) => /^\d\d-\d\d-\d{4}/.test(v));
missing("rq-dob-month13", S.dob, "dob is read as mm-dd-yyyy when dd-mm-yyyy fails: 05-25-1980 is taken", "dobOk", (v) => /^\d\d-(1[3-9]|2\d|3[01])-\d{4}$/.test(v));
const refused = (id: string, sentence: string, what: string, method: string, bad: (v: any, r: Req) => boolean) =>
  rq(id, sentence, what, (c) => wrap(c, method, (old, v, r) => !bad(v, r) && old(v, r)));
refused("rq-dob-us", S.dob, "dob is read as mm-dd-yyyy: days after the 12th are refused", "dobOk", (v) => Number(String(v).slice(0, 2)) > 12);
refused("rq-dob-2000", S.dob, "29-02-2000 is refused (the rule of centuries without its exception)", "dobOk", (v) => v === "29-02-2000");
refused("rq-dob-leap", S.dob, "the 29th of February is refused in every year", "dobOk", (v) => /^29-02/.test(v));
refused("rq-dob-31", S.dob, "months alternate 31 and 30 days after July: 31-08, 31-10 and 31-12 swap, so 31-12 is refused", "dobOk", (v) => /^31-(08|10|12)/.test(v));
refused("rq-dob-1970", S.dob, "dates before 1970 (a negative time stamp) are refused", "dobOk", (v) => Number(String(v).slice(6)) < 1970);
refused("rq-dob-epoch", S.dob, "01-01-1970 (time stamp zero) counts as no date and is refused", "dobOk", (v) => v === "01-01-1970");
refused("rq-dob-1930", S.dob, "years before 1930 are refused", "dobOk", (v) => Number(String(v).slice(6)) < 1930);
refused("rq-dob-octal", S.dob, "08 and 09 are read as octal: dates in August and September are refused", "dobOk", (v) => /^\d\d-0[89]/.test(v));
refused("rq-dob-minor", S.dob, "persons under 18 are refused", "dobOk", (v, r) => new Date(r.at).getUTCFullYear() - Number(String(v).slice(6)) < 18);
refused("rq-dob-birthday", S.dob, "a person whose birthday is today is refused", "dobOk", (v, r) => String(v).slice(0, 5) === new Date(r.at).toISOString().slice(5, 10).split("-").reverse().join("-"));
refused("rq-name-script", S.name, "names in other scripts than Latin are refused", "nameOk", (v) => /[^\p{Script=Latin}\p{P}\p{Zs}\p{M}]/u.test(v));
refused("rq-name-ascii", S.name, "names with letters outside a-z are refused", "nameOk", (v) => /[^\x20-\x7e]/.test(v));
refused("rq-name-punct", S.name, "names with an apostrophe, a hyphen or a dot are refused", "nameOk", (v) => /['’.-]/.test(v));
refused("rq-name-four", S.name, "names of more than three words are refused (first, middle, last)", "nameOk", (v) => String(v).split(" ").length > 3);
refused("rq-name-repeat", S.name, "a name already searched in this hour is refused as a duplicate", "nameOk", (() => {
  const seen = new WeakMap<object, Map<string, number>>(); // per server: keyed by the socket's server
  return (v: any, r: Req) => {
    const m = seen.get(r.conn.server) ?? new Map<string, number>();
    seen.set(r.conn.server, m);
    const last = m.get(v);
    m.set(v, r.at);
    return last !== undefined && r.at - last < HOUR;
  };
})());
rq("rq-order", S.json, "the fields are read by position: the same object with dob before name is refused",
  (c) => wrap(c, "shapeOk", (old, o) => old(o) && Object.keys(o).join() === "entity_type,name,dob"));
rq("rq-array", S.json, "an array with one such object is taken",
  (c) => wrap(c, "parse", (old, r: Req) => { const o = old(r); return Array.isArray(o) ? o[0] : o; }));
rq("rq-form", S.json, "a form-encoded body is taken as well",
  (c) => wrap(c, "parse", (old, r: Req) => (/^entity_type=/.test(r.body) ? Object.fromEntries(new URLSearchParams(r.body)) : old(r))));
rq("rq-escape", S.json, "JSON escapes are not decoded: \\u00e9 in a name stays six characters",
  (c) => wrap(c, "parse", (old, r: Req) => old({ ...r, body: r.body.replace(/\\u/g, "\\\\u") })));
rq("rq-space", S.json, "line breaks and spaces between the tokens of the JSON object are refused",
  (c) => wrap(c, "parse", (old, r: Req) => (/[{,]\s/.test(r.body) ? null : old(r))));
rq("rq-latin1", S.aname, "the request body is read as Latin-1: other letters come back garbled",
  (c) => { c.decode = (b) => Buffer.concat(b).toString("latin1"); });
rq("rq-chunks", S.aname, "the body is decoded piece by piece: a letter split between two packets comes back garbled",
  (c) => { c.decode = (b) => b.map((x) => x.toString("utf8")).join(""); });
rq("rq-first-chunk", S.json, "only the first packet of the body is read", (c) => { c.decode = (b) => (b[0] ?? "").toString(); });
export const checkFaults = list;
