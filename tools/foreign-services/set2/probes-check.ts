import { HOUR, JAN, MIN, type Kit, type Opt, type Probe } from "./kit.ts";
const P: Record<string, Probe> = {};
const p = (id: string, run: (k: Kit) => Promise<boolean>, start?: string) => { P[id] = { run, ...(start ? { start } : {}) }; };
const ok = (k: Kit, o: Opt) => k.yes(JAN.name, JAN.dob, o);

// authorization
const bad = (id: string, opt: (k: Kit, token: string) => Opt) => p(id, async (k) => {
  const token = (await k.auth())!;
  return (await ok(k, { token })) && (await k.no(JAN, opt(k, token)));
});
bad("au-none", () => ({}));
bad("au-any", () => ({ token: "0123456789abcdef" }));
bad("au-prefix", (_k, t) => ({ token: t.slice(0, -1) }));
p("au-case", async (k) => {
  const t = (await k.auth())!;
  return t.toUpperCase() === t || k.no(JAN, { token: t.toUpperCase() });
});
bad("au-longer", (_k, t) => ({ token: t + "0" }));
bad("au-basic", (k) => ({ authorization: "Basic " + Buffer.from(`${k.s.customerId}:${k.s.customerKey}`).toString("base64") }));
bad("au-bare", (_k, t) => ({ authorization: t }));
bad("au-scheme", (_k, t) => ({ authorization: `Token ${t}` }));
bad("au-null", () => ({ token: "undefined" }));
p("au-conn", async (k) => { const agent = k.agent(); return (await ok(k, { token: await k.auth(), agent })) && k.no(JAN, { agent }); });
bad("au-cache", () => ({}));
bad("au-clean-free", () => ({}));
p("au-ten-trusted", async (k) => {
  const token = await k.auth();
  for (let i = 0; i < 11; i++) if (!(await ok(k, { token }))) return false;
  return k.no(JAN, {});
});
p("au-parallel", async (k) => {
  const token = await k.auth();
  const first = ok(k, { token });
  await new Promise((f) => setTimeout(f, 15));
  return (await k.no(JAN, {})) && (await first);
});
p("au-foreign-conn", async (k) => { const token = await k.auth(); return (await ok(k, { token, agent: k.agent() })) && ok(k, { token, agent: k.agent() }); });
p("au-locked", async (k) => { const token = await k.auth(); return (await Promise.all([ok(k, { token }), ok(k, { token })])).every(Boolean); });
p("au-two-tokens", async (k) => { const [a, b] = [await k.auth(), await k.auth()]; return (await ok(k, { token: b })) && ok(k, { token: a }); });
p("au-expired-refusal", async (k) => {
  const [token, agent] = [await k.auth(), k.agent()];
  k.move(HOUR + MIN);
  return (await k.no(JAN, { token, agent })) && k.no(JAN, { agent });
});

// request fields
const refuse = (id: string, person: object) => p(id, async (k) => {
  const token = await k.auth();
  return (await k.no(person, { token })) && ok(k, { token });
});
const { entity_type: _e, ...noType } = JAN;
const { name: _n, ...noName } = JAN;
const { dob: _d, ...noDob } = JAN;
refuse("rq-entity-missing", noType);
refuse("rq-entity-any", { ...JAN, entity_type: "company" });
refuse("rq-entity-case", { ...JAN, entity_type: "Person" });
refuse("rq-entity-prefix", { ...JAN, entity_type: "personal" });
refuse("rq-entity-loose", { ...JAN, entity_type: ["person"] });
refuse("rq-entity-trim", { ...JAN, entity_type: " person " });
refuse("rq-entity-empty", { ...JAN, entity_type: "" });
p("rq-entity-known", async (k) => { const token = await k.auth(); return (await ok(k, { token })) && k.no({ ...JAN, entity_type: "company" }, { token }); });
refuse("rq-name-missing", noName);
refuse("rq-name-number", { ...JAN, name: 12345 });
refuse("rq-name-empty", { ...JAN, name: "" });
refuse("rq-dob-missing", noDob);
refuse("rq-dob-null", { ...JAN, dob: null });
refuse("rq-dob-empty", { ...JAN, dob: "" });
refuse("rq-dob-iso", { ...JAN, dob: "1981-05-14" });
refuse("rq-dob-slash", { ...JAN, dob: "14/05/1981" });
refuse("rq-dob-dots", { ...JAN, dob: "14.05.1981" });
refuse("rq-dob-short", { ...JAN, dob: "4-5-1981" });
refuse("rq-dob-yy", { ...JAN, dob: "14-05-81" });
refuse("rq-dob-tail", { ...JAN, dob: "14-05-1981T00:00:00" });
refuse("rq-dob-month13", { ...JAN, dob: "05-25-1980" });
const accept = (id: string, name: string, dob: string, o: Opt = {}) => p(id, async (k) => k.yes(name, dob, { ...o, token: await k.auth() }));
accept("rq-dob-us", "Jan Novak", "31-01-1980");
accept("rq-dob-2000", "Jan Novak", "29-02-2000");
accept("rq-dob-leap", "Jan Novak", "29-02-1996");
accept("rq-dob-31", "Jan Novak", "31-12-1981");
accept("rq-dob-1970", "Jan Novak", "01-07-1969");
accept("rq-dob-epoch", "Jan Novak", "01-01-1970");
accept("rq-dob-1930", "Jan Novak", "11-11-1929");
accept("rq-dob-octal", "Jan Novak", "08-09-1981");
accept("rq-dob-minor", "Jan Novak", "08-09-2015");
accept("rq-dob-birthday", "Jan Novak", "10-03-1990");
accept("rq-name-script", "Иван Петров", "14-05-1981");
accept("rq-name-ascii", "Zoë Müller", "14-05-1981");
accept("rq-name-punct", "Mary-Jane O'Neill", "14-05-1981");
accept("rq-name-four", "Ana Maria Luisa Lopez", "14-05-1981");
p("rq-name-repeat", async (k) => { const token = await k.auth(); return (await ok(k, { token })) && ok(k, { token }); });
accept("rq-order", JAN.name, JAN.dob, { body: `{"dob":"${JAN.dob}","name":"${JAN.name}","entity_type":"person"}` });
refuse("rq-array", [JAN]);
p("rq-form", async (k) => {
  const [token, body] = [await k.auth(), new URLSearchParams(JAN).toString()];
  for (const type of [null, "application/json", "application/x-www-form-urlencoded"]) if (!(await k.no(null, { token, body, type }))) return false;
  return true;
});
accept("rq-escape", "Ren\u00e9 Novak", JAN.dob, { body: `{"entity_type":"person","name":"Ren\\u00e9 Novak","dob":"${JAN.dob}"}` });
accept("rq-space", JAN.name, JAN.dob, { body: JSON.stringify(JAN, null, 2) });
accept("rq-latin1", "Łukasz Żak", JAN.dob);
const json = Buffer.from(JSON.stringify({ ...JAN, name: "Zoë Novak" }));
const cut = json.indexOf(0xc3) + 1;
accept("rq-chunks", "Zoë Novak", JAN.dob, { pieces: [json.subarray(0, cut), json.subarray(cut)] });
accept("rq-first-chunk", "Zoë Novak", JAN.dob, { pieces: [json.subarray(0, 20), json.subarray(20)] });
export const checkProbes = P;
