import { HOUR, JAN, MIN, type Kit, type Opt, type Probe } from "./kit.ts";
const P: Record<string, Probe> = {};
const p = (id: string, run: (k: Kit) => Promise<boolean>, start?: string) => { P[id] = { run, ...(start ? { start } : {}) }; };
const works = (k: Kit, token: string | null, o: Opt = {}) => (token ? k.yes(JAN.name, JAN.dob, { token, ...o }) : Promise.resolve(false));
const dead = (k: Kit, token: string | null, o: Opt = {}) => k.no(JAN, { token, ...o });
const b64 = (s: string) => Buffer.from(s).toString("base64");
/** Wrong request refused; a right one still works. */
const wrong = (id: string, opt: (k: Kit) => Opt, first = false) => p(id, async (k) => {
  if (first && !(await works(k, await k.auth()))) return false;
  return (await k.auth(opt(k))) === null && (await works(k, await k.auth()));
});
wrong("tr-key-starts", (k) => ({ key: k.s.customerKey + "x" }));
wrong("tr-key-colon", (k) => ({ key: k.s.customerKey.slice(0, k.s.customerKey.indexOf(":")) + ":other" }));
wrong("tr-key-eight", (k) => ({ key: k.s.customerKey.slice(0, 8) + "#######" }));
wrong("tr-key-case", (k) => ({ key: k.s.customerKey.toUpperCase() }));
wrong("tr-key-plus", (k) => ({ key: k.s.customerKey.replace("+", " ") }));
wrong("tr-key-trim", (k) => ({ key: k.s.customerKey + " " }));
wrong("tr-key-empty", () => ({ key: "" }));
wrong("tr-id-unchecked", () => ({ id: "nobody" }));
wrong("tr-id-case", (k) => ({ id: k.s.customerId.toLowerCase() }));
wrong("tr-id-prefix", (k) => ({ id: k.s.customerId.slice(0, -1) }));
wrong("tr-no-header", () => ({ authorization: null }));
wrong("tr-raw", (k) => ({ authorization: `Basic ${k.s.customerId}:${k.s.customerKey}` }));
wrong("tr-scheme", (k) => ({ authorization: "Bearer " + b64(`${k.s.customerId}:${k.s.customerKey}`) }));
wrong("tr-login-cached", () => ({ key: "wrong" }), true);
p("tr-login-conn", async (k) => {
  const agent = k.agent();
  return (await k.auth({ agent })) !== null && (await k.auth({ agent, key: "wrong" })) === null;
});
p("tr-tenth-wrong", async (k) => {
  for (let i = 0; i < 12; i++) if ((await k.auth({ key: "wrong" })) !== null) return false;
  return true;
});
p("tr-bearer", async (k) => (await k.auth({ authorization: `Bearer ${await k.auth()}` })) === null);
wrong("tr-grant-missing", () => ({ body: "" }));
wrong("tr-grant-any", () => ({ body: "grant_type=password" }));
wrong("tr-grant-part", () => ({ body: "grant_type=client_credentials_v2" }));
wrong("tr-grant-empty", () => ({ body: "grant_type=" }));
wrong("tr-grant-once", () => ({ body: "grant_type=password" }), true);
p("tr-form-raw", async (k) => works(k, await k.auth({ body: "grant_type=client%5Fcredentials" })));
wrong("tr-json", () => ({ type: "application/json", body: '{"grant_type":"client_credentials"}' }));
wrong("tr-type-unchecked", () => ({ type: "text/plain" }));

const several = async (k: Kit) => {
  for (let i = 0; i < 4; i++) if (!(await works(k, await k.auth()))) return false;
  return true;
};
p("rs-third-lost", several);
p("rs-conn-empty", async (k) => { const agent = k.agent(); return works(k, await k.auth({ agent })).then(async (x) => x && works(k, await k.auth({ agent }))); });
p("rs-race", async (k) => {
  const t = await Promise.all([k.auth(), k.auth(), k.auth()]);
  for (const x of t) if (!(await works(k, x))) return false;
  return true;
});
p("rs-case", several);
p("rs-after-expiry", async (k) => { await k.auth(); k.move(HOUR + MIN); return works(k, await k.auth()); });
p("rs-after-refusal", async (k) => { await k.auth({ key: "wrong" }); return works(k, await k.auth()); });

/** Token alive at these minutes and dead at those, unused in between unless listed. */
const life = (id: string, steps: Array<[number, boolean]>, start?: string) => p(id, async (k) => {
  const t = await k.auth();
  const from = k.clock.t;
  for (const [min, alive] of steps) {
    k.clock.t = from + min * MIN;
    if (!(await (alive ? works(k, t) : dead(k, t)))) return false;
  }
  return true;
}, start);
life("lt-30min", [[31, true]]);
life("lt-55min", [[59, true], [61, false]]);
life("lt-65min", [[1, true], [61, false]]);
life("lt-2h", [[1, true], [90, false]]);
life("lt-never", [[1, true], [25 * 60 + 7, false]]);
life("lt-sliding", [[20, true], [40, true], [59, true], [62, false]]);
life("lt-first-use", [[50, true], [62, false]]);
life("lt-idle", [[1, true], [17, true]]);
life("lt-unused", [[58, true]]);
life("lt-clock-hour", [[50, true]]);
life("lt-next-hour", [[1, true], [62, false]]);
life("lt-midnight", [[1, true], [40, true]], "2026-03-10T23:40:00.000Z");
life("lt-23h", [[0, true], [45, true], [61, false]], "2026-03-10T23:10:00.000Z");
life("lt-next-day", [[1, true], [24 * 60 + 5, false]]);
life("lt-refusal-renews", [[1, true], [61, false], [62, false]]);
p("lt-ten-uses", async (k) => {
  const t = await k.auth();
  for (let i = 0; i < 12; i++) if (!(await works(k, t))) return false;
  return true;
});
life("lt-purge", [[1, true], [61, false]]);
p("lt-conn", async (k) => {
  const t = await k.auth();
  const agent = k.agent();
  if (!(await works(k, t, { agent }))) return false;
  k.move(HOUR + MIN);
  return dead(k, t, { agent });
});
p("lt-invalidates", async (k) => { const a = await k.auth(); const b = await k.auth(); return (await works(k, a)) && (await works(k, b)); });
p("lt-four", async (k) => {
  const t = [];
  for (let i = 0; i < 5; i++) { t.push(await k.auth()); k.move(1000); }
  for (const x of t) if (!(await works(k, x))) return false;
  return true;
});
const second = async (k: Kit) => { // a token requested at minute 40 lives to minute 100
  await works(k, await k.auth());
  k.move(40 * MIN);
  const b = await k.auth();
  k.move(40 * MIN);
  if (!(await works(k, b))) return false;
  k.move(21 * MIN);
  return dead(k, b);
};
p("lt-reissued", second);
p("lt-shared-expiry", second);
const older = (between: (k: Kit) => Promise<unknown>) => async (k: Kit) => {
  const a = await k.auth();
  k.move(40 * MIN);
  await between(k);
  if (!(await works(k, a))) return false;
  k.move(21 * MIN);
  return dead(k, a);
};
p("lt-renews-older", older((k) => k.auth()));
p("lt-refused-extends", older((k) => k.auth({ key: "wrong" })));
p("lt-bad-check-kills", async (k) => {
  const t = await k.auth();
  return (await k.no({ ...JAN, dob: "1981-05-14" }, { token: t })) && (await works(k, t));
});
p("lt-second-server-hour", async (k) => {
  k.move(HOUR + MIN);
  const t = await k.auth();
  k.move(45 * MIN);
  return works(k, t);
});
export const tokenProbes = P;
