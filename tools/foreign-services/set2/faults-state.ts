// Mutants of the search time, of the list search, and of what one request leaves behind for another.
import { HOUR, MIN, S, wait, wrap, type Fault } from "./doc.ts";
import type { Core, Grant, Person, Req } from "./core.ts";

const list: Fault[] = [];
const of = (area: string) => (id: string, sentence: string, what: string, apply: (c: Core) => void) =>
  list.push({ id, area, sentence, what, apply });
const p2 = (n: number) => String(n).padStart(2, "0");
const DAY = 24 * HOUR;
const iso = (t: number) => new Date(t).toISOString().slice(0, 19).replace("T", " ");

// ------------------------------------------------------------------ searched_on
const so = of("searched_on");
/** d = the Date, s = the right text */
const time = (id: string, what: string, by: (d: Date, s: string) => any) =>
  so(id, S.on, what, (c) => { c.stamp = (at) => by(new Date(at), iso(at)); });
time("so-t", "date and time are separated by a T", (_d, s) => s.replace(" ", "T"));
time("so-fraction", "milliseconds are added when they are not zero", (d, s) => (d.getUTCMilliseconds() ? `${s}.${d.getUTCMilliseconds()}` : s));
time("so-12h", "the hour is on the 12-hour clock", (d, s) => `${s.slice(0, 11)}${p2(d.getUTCHours() % 12 || 12)}${s.slice(13)}`);
time("so-hour-pad", "hours before ten have one digit", (d, s) => `${s.slice(0, 11)}${d.getUTCHours()}${s.slice(13)}`);
time("so-day-pad", "days before the tenth have one digit", (d, s) => `${s.slice(0, 8)}${d.getUTCDate()}${s.slice(10)}`);
time("so-sec-pad", "seconds below ten have one digit", (d, s) => `${s.slice(0, 17)}${d.getUTCSeconds()}`);
time("so-month0", "months are counted from zero", (d, s) => `${s.slice(0, 5)}${p2(d.getUTCMonth())}${s.slice(7)}`);
time("so-24", "the hour after midnight is written 24", (_d, s) => s.replace(/ 00:/, " 24:"));
time("so-mm", "the month stands where the minutes belong (MM for mm)", (d, s) => `${s.slice(0, 14)}${p2(d.getUTCMonth() + 1)}${s.slice(16)}`);
time("so-sec0", "seconds are always 00", (_d, s) => s.slice(0, 17) + "00");
time("so-round60", "milliseconds are rounded into the seconds without a carry: 59.5 becomes 60", (d, s) => s.slice(0, 17) + p2(Math.round(d.getUTCSeconds() + d.getUTCMilliseconds() / 1000)));
time("so-swap", "day and month are exchanged", (_d, s) => `${s.slice(0, 5)}${s.slice(8, 10)}-${s.slice(5, 7)}${s.slice(10)}`);
time("so-order", "the date is written dd-mm-yyyy like dob", (_d, s) => `${s.slice(8, 10)}-${s.slice(5, 7)}-${s.slice(0, 4)}${s.slice(10)}`);
time("so-unix", "searched_on is a number of seconds", (d) => Math.floor(d.getTime() / 1000));
time("so-week-year", "the year is that of the ISO week: wrong in the days around New Year", (d, s) => {
  const x = new Date(d.getTime());
  x.setUTCDate(x.getUTCDate() + 4 - (x.getUTCDay() || 7));
  return x.getUTCFullYear() + s.slice(4);
});
time("so-two-zones", "the date is local (two hours ahead), the time is UTC: the date changes two hours before midnight", (d, s) => iso(d.getTime() + 2 * HOUR).slice(0, 10) + s.slice(10));
time("so-zone-late", "the zone of two hours is added to the hour without carrying into the date: hours 24 and 25", (d, s) => `${s.slice(0, 11)}${p2(d.getUTCHours() + 2)}${s.slice(13)}`);
const kept = (id: string, what: string, by: (at: number, p: Person, r: Req, g: Grant, c: Core, mem: any) => any) =>
  so(id, S.on, what, (c) => { const mem: any = { map: new Map() }; c.stamp = (at, p, r, g) => by(at, p, r, g, c, mem); });
kept("so-token", "searched_on is the time at which the token was requested", (_a, _p, _r, g) => iso(g.at));
kept("so-start", "searched_on is the time of the server's first search", (at, _p, _r, _g, _c, m) => iso((m.t ??= at)));
kept("so-person", "searched_on of a person searched before is that of the first search", (at, p, _r, _g, _c, m) => {
  if (!m.map.has(p.name + p.dob)) m.map.set(p.name + p.dob, at);
  return iso(m.map.get(p.name + p.dob));
});
kept("so-lag", "searched_on is the time of the search before", (at, _p, _r, _g, _c, m) => { const t = m.t ?? at; m.t = at; return iso(t); });
kept("so-conn-date", "the date is kept per connection: after midnight the old date stands with the new time", (at, _p, r) => ((r.conn.day ??= iso(at).slice(0, 10)) + iso(at).slice(10)));
kept("so-date", "the date is formatted once at the server's start and does not change at midnight", (at, _p, _r, _g, c) => iso(c.started).slice(0, 10) + iso(at).slice(10));
kept("so-hour-cache", "the text up to the hour is refreshed only after 60 minutes: the hour does not change with the clock", (at, _p, _r, _g, _c, m) => {
  if (m.t === undefined || at - m.t >= HOUR) m.t = at;
  return iso(m.t).slice(0, 13) + iso(at).slice(13);
});
kept("so-null", "searched_on is null without a match", (at, p, _r, _g, c) => (c.listed(p.name) ? iso(at) : null));
kept("so-hit-date", "searched_on of a match is a date without a time", (at, p, _r, _g, c) => (c.listed(p.name) ? iso(at).slice(0, 10) : iso(at)));

// ------------------------------------------------------------------ match
const ma = of("match");
const verdict = (id: string, what: string, by: (real: string, p: Person, r: Req, g: Grant, c: Core, mem: any) => any) =>
  ma(id, S.lists, what, (c) => {
    const mem: any = { set: new Set<string>(), map: new Map<string, any>(), n: 0 };
    wrap(c, "verdict", (old, p, r, g) => by(old(p, r, g), p, r, g, c, mem));
  });
verdict("ma-pep", "only the sanctions lists are searched", (v, p) => (p.name.includes("Testpep") ? "No" : v));
verdict("ma-sanction", "only the PEP list is searched", (v, p) => (p.name.includes("Testsanction") ? "No" : v));
verdict("ma-sticky", "after a match every later search is a match until the server restarts", (v, _p, _r, _g, _c, m) => ((m.hit ||= v !== "No") ? "Potential match" : v));
verdict("ma-conn", "after a match the next person on the same connection is a match", (v, _p, r) => {
  const was = r.conn.hit;
  r.conn.hit = v !== "No";
  return was ? "Potential match" : v;
});
verdict("ma-token", "the first result with a token is given for all later persons with that token", (v, _p, _r, g) => (g.result ??= v));
verdict("ma-once", "a match is reported once: the same person searched again is No", (v, p, _r, _g, _c, m) => {
  if (v === "No" || !m.set.has(p.name + p.dob)) return m.set.add(p.name + p.dob), v;
  return "No";
});
verdict("ma-first-name", "results are kept by the first word of the name", (v, p, _r, _g, _c, m) => {
  const k = p.name.split(" ")[0]!;
  if (!m.map.has(k)) m.map.set(k, v);
  return m.map.get(k);
});
verdict("ma-dob", "results are kept by date of birth: who shares it with a match is a match", (v, p, _r, _g, _c, m) => {
  if (!m.map.has(p.dob)) m.map.set(p.dob, v);
  return m.map.get(p.dob);
});
verdict("ma-middle", "listed persons with middle names are not found", (v, p) => (p.name.split(" ").length > 2 ? "No" : v));
verdict("ma-script", "listed persons whose first name is in another script are not found", (v, p) => (/[^\x00-\u024f]/.test(p.name) ? "No" : v));
verdict("ma-old", "listed persons born before 1940 are not found", (v, p) => (p.dob.slice(6) < "1940" ? "No" : v));
verdict("ma-2000", "listed persons born in 2000 or later are not found", (v, p) => (p.dob.slice(6) >= "2000" ? "No" : v));
verdict("ma-tenth", "every tenth search ends in a time-out of the lists and is given as No", (v, _p, _r, _g, _c, m) => (++m.n % 10 === 0 ? "No" : v));
verdict("ma-hour", "the lists are loaded for one hour and then empty: all are No", (v, _p, r, _g, c) => (r.at - c.started >= HOUR ? "No" : v));
verdict("ma-rebuild", "between 00:00 and 00:30 UTC the lists are being rebuilt: all are No", (v, _p, r) => (r.at % DAY < 30 * MIN ? "No" : v));
verdict("ma-full-hour", "in the first minute of an hour, while the lists are refreshed, all are matches", (v, _p, r) => (r.at % HOUR < MIN ? "Potential match" : v));
verdict("ma-second-token", "with a second token the lists are not attached to the session: all are No", (v, _p, _r, g, c) => ([...c.grants.keys()][0] === g.token ? v : "No"));
verdict("ma-after-bad", "the search that follows a refused check is a match (result variable not reset)", (v, _p, _r, _g, c) => {
  const bad = (c as any).bad;
  (c as any).bad = false;
  return bad ? "Potential match" : v;
});
{
  const f = list.at(-1)!;
  const before = f.apply;
  f.apply = (c) => { before(c); wrap(c, "person", (old, r) => { const p = old(r); if (!p) (c as any).bad = true; return p; }); };
}

// ------------------------------------------------------------------ state
const st = of("state");
st("st-shared-person", S.aname, "the person is kept in a shared variable while the lists are searched: of checks at the same time, all get the last one's credential", (c) => {
  let current: Person;
  c.search = async (p, r, g) => { current = p; await wait(25); return c.reply(200, c.credential(current, r, g)); };
});
st("st-shared-name", S.lists, "of checks at the same time, the result belongs to the person who came last (name and year are right)", (c) => {
  let current: Person;
  wrap(c, "lists", async (_old, p: Person) => { current = p; await wait(25); });
  wrap(c, "verdict", (old, _p, r, g) => old(current, r, g));
});
st("st-join", S.year, "checks under way with the same name are joined: the second gets the first one's year of birth", (c) => {
  const flying = new Map<string, Promise<any>>();
  wrap(c, "search", (old, p: Person, r, g) => {
    if (!flying.has(p.name)) flying.set(p.name, wait(25).then(() => old(p, r, g)).finally(() => flying.delete(p.name)));
    return flying.get(p.name);
  });
});
st("st-fifth", S.resp, "a pool of four: the fifth check at the same time gets no credential but an empty object", (c) => {
  let n = 0;
  wrap(c, "search", async (old, p, r, g) => {
    if (++n > 4) return n--, c.reply(200, {});
    try { await wait(25); return await old(p, r, g); } finally { n--; }
  });
});
st("st-year-by-name", S.year, "the year of birth is kept by name: a namesake gets the first one's year", (c) => {
  const m = new Map<string, any>();
  wrap(c, "year", (old, p: Person, r) => { if (!m.has(p.name)) m.set(p.name, old(p, r)); return m.get(p.name); });
});
st("st-name-by-year", S.aname, "credentials are kept by date of birth: who was born the same day gets the first one's name", (c) => {
  const m = new Map<string, any>();
  wrap(c, "fullName", (old, p: Person, r, g) => { if (!m.has(p.dob)) m.set(p.dob, old(p, r, g)); return m.get(p.dob); });
});
st("st-conn-name", S.aname, "a second check on the same connection gets the first one's name", (c) =>
  wrap(c, "fullName", (old, p, r: Req, g) => (r.conn.name ??= old(p, r, g))));
st("st-buffer", S.aname, "the name is written into a buffer that is not cleared: a shorter name keeps the end of the longer one before", (c) => {
  let buf = "";
  wrap(c, "fullName", (old, p, r, g) => { const n = old(p, r, g); return (buf = n + buf.slice(n.length)); });
});
st("st-refused-leak", S.aname, "a check refused for its dob leaves its name behind for the next check", (c) => {
  let left: string | undefined;
  wrap(c, "person", (old, r: Req) => { const p = old(r); if (!p) left = c.parse(r)?.name; return p; });
  wrap(c, "fullName", (old, p, r, g) => { const n = left ?? old(p, r, g); left = undefined; return n; });
});
st("st-token-name", S.aname, "the name is kept with the token: all checks with it return the first name", (c) =>
  wrap(c, "fullName", (old, p, r, g: Grant) => (g.name ??= old(p, r, g))));
st("st-hash", S.year, "credentials are kept under length of the name and date without year: persons who share both get the first one's year", (c) => {
  const m = new Map<string, any>();
  wrap(c, "year", (old, p: Person, r) => {
    const k = p.name.length + p.dob.slice(0, 6);
    if (!m.has(k)) m.set(k, old(p, r));
    return m.get(k);
  });
});
st("st-first-last", S.aname, "a namesake of a searched person gets the name kept by first and last word: middle names do not count", (c) => {
  const m = new Map<string, any>();
  wrap(c, "fullName", (old, p: Person, r, g) => {
    const w = p.name.split(" ");
    const k = w[0] + "|" + w.at(-1);
    if (!m.has(k)) m.set(k, old(p, r, g));
    return m.get(k);
  });
});
st("st-conn-ten", S.resp, "the tenth check on a connection is answered with the credential of the ninth", (c) =>
  wrap(c, "credential", (old, p, r: Req, g) => {
    r.conn.n = (r.conn.n ?? 0) + 1;
    const v = r.conn.n === 10 ? r.conn.v : old(p, r, g);
    r.conn.v = v;
    return v;
  }));
st("st-day-cache", S.resp, "credentials are kept for an hour by name alone, with all their fields", (c) => {
  const m = new Map<string, any>();
  wrap(c, "credential", (old, p: Person, r: Req, g) => {
    const e = m.get(p.name);
    if (e && r.at - e.at < HOUR) return e.v;
    const v = old(p, r, g);
    m.set(p.name, { at: r.at, v });
    return v;
  });
});
st("st-bad-dob-cached", S.dob, "the verdict on a dob is kept by name: after one good check of a person, a wrong dob passes", (c) => {
  const good = new Set<string>();
  wrap(c, "person", (old, r: Req) => {
    const p = old(r);
    if (p) return good.add(p.name), p;
    const o = c.parse(r);
    return o && good.has(o.name) && o.entity_type === "person" && typeof o.dob === "string" ? o : null;
  });
});
export const stateFaults = list;
