import { HOUR, MIN, type Kit, type Opt, type Probe } from "./kit.ts";
const P: Record<string, Probe> = {};
const p = (id: string, run: (k: Kit) => Promise<boolean>, start?: string) => { P[id] = { run, ...(start ? { start } : {}) }; };
type Who = string | [string, string];
const D = "14-05-1981";
const one = (k: Kit, w: Who, o: Opt) => (typeof w === "string" ? k.yes(w, D, o) : k.yes(w[0], w[1], o));
const run = async (k: Kit, people: Who[], o: Opt = {}) => {
  const token = await k.auth();
  for (const w of people) if (!(await one(k, w, { token, ...o }))) return false;
  return true;
};
const seq = (ids: string, ...people: Who[]) => { for (const id of ids.split(" ")) p(id, (k) => run(k, people)); };
const conn = (ids: string, ...people: Who[]) => { for (const id of ids.split(" ")) p(id, (k) => run(k, people, { agent: k.agent() })); };
const par = (ids: string, ...people: Who[]) => {
  for (const id of ids.split(" ")) p(id, async (k) => {
    const token = await k.auth();
    if (!(await one(k, "Eva Horvat", { token }))) return false;
    return (await Promise.all(people.map((w) => one(k, w, { token })))).every(Boolean);
  });
};
const [PEP, SAN, CLEAN] = ["Ana Testpep", "Bob Testsanction", "Jan Novak"];
const times = (n: number, w: Who) => Array<Who>(n).fill(w);

seq("cr-type-upper cr-name-lower cr-issued-object cr-issuer-plain cr-version-number cr-version-major cr-attributes-text", CLEAN);
seq("cr-type-hit cr-issued-null cr-issuer-urn cr-version-patch cr-credentials-array mf-lower mf-capital ap-object ap-list", PEP);
seq("cr-name-long cr-attributes-up mf-nomatch mf-boolean mf-absent ap-absent ap-null ap-empty ap-relative ap-host ap-raw-name", CLEAN);
seq("mf-kind", SAN);
seq("cr-issuer-short cr-wrapped ap-repeat", ...times(5, CLEAN));
seq("cr-version-tenth", ...times(11, CLEAN));
seq("cr-length nm-accents", "Zoë Müller");
seq("nm-middle", "Ana Maria Lopez");
seq("nm-three nm-twice", "Ana Maria Luisa Ana Lopez");
seq("nm-initials nm-comma", "Ana Maria Testpep");
seq("nm-question", "Łukasz Żak");
seq("nm-astral", "𠮷野 太郎");
seq("nm-html", "Sean O'Neill");
seq("nm-hyphen", "Mary-Jane Novak");
seq("nm-forty", "Maria Magdalena Alexandra Konstantina Papadopoulou");
seq("nm-bytes", "Константин Александрович Петров");
seq("nm-order", "محمد بن علي");
seq("nm-single", "Madonna");
seq("nm-escapes", 'William "Bill" Novak');
seq("by-number by-two", CLEAN);
seq("by-19", [CLEAN, "14-05-2004"]);
seq("by-pivot", [CLEAN, "14-05-1924"]);
seq("by-jan1", [CLEAN, "01-01-1990"]);
seq("by-dec31", [CLEAN, "31-12-1990"]);
seq("by-week", [CLEAN, "30-12-1985"], [CLEAN, "01-01-1983"], [CLEAN, "31-12-1990"]);
seq("by-age", [CLEAN, "20-11-1990"], [CLEAN, "02-01-1990"]);
seq("by-us", [CLEAN, "31-07-1990"]);
seq("by-days", [CLEAN, "31-12-1999"]);
seq("by-full", [CLEAN, "14-05-1955"]);
seq("mf-confirmed", PEP, PEP);
seq("mf-pending", CLEAN);
seq("ap-script", "Иван Петров");
p("ap-token-hour", async (k) => {
  const token = await k.auth();
  k.move(57 * MIN);
  return one(k, CLEAN, { token });
});

// searched_on: right at each of these times
const at = (ids: string, ...when: string[]) => {
  for (const id of ids.split(" ")) p(id, async (k) => {
    for (const w of when) {
      k.to(w);
      if (!(await run(k, [CLEAN]))) return false;
    }
    return true;
  }, when[0]!);
};
const DAY = ["2026-03-05T03:04:05.000Z", "2026-03-05T09:10:11.000Z", "2026-03-05T15:16:17.000Z", "2026-03-05T21:22:23.000Z", "2026-03-05T23:59:58.600Z", "2026-03-06T00:00:04.000Z"];
at("so-t so-fraction so-12h so-hour-pad so-day-pad so-sec-pad so-24 so-mm so-sec0 so-swap so-order so-unix so-two-zones so-zone-late so-start so-date so-lag", ...DAY);
at("so-month0", "2026-02-27T10:00:00.000Z", "2026-03-01T10:00:00.000Z");
at("so-round60", "2026-03-05T10:11:59.700Z");
at("so-week-year", "2026-12-30T12:00:00.000Z", "2027-01-02T12:00:00.000Z");
p("so-token", async (k) => { const token = await k.auth(); k.move(37 * MIN + 3000); return one(k, CLEAN, { token }); });
at("so-person", ...DAY);
p("so-conn-date", async (k) => {
  const [token, agent] = [await k.auth(), k.agent()];
  if (!(await one(k, CLEAN, { token, agent }))) return false;
  k.move(30 * MIN);
  return one(k, CLEAN, { token, agent });
}, "2026-03-05T23:45:00.000Z");
at("so-hour-cache", "2026-03-05T10:50:00.000Z", "2026-03-05T11:05:00.000Z");
seq("so-null", CLEAN);
seq("so-hit-date", PEP);

// match
seq("ma-pep", PEP, CLEAN);
seq("ma-sanction", SAN, CLEAN);
seq("ma-sticky ma-token", PEP, CLEAN, SAN, CLEAN);
conn("ma-conn", PEP, CLEAN);
seq("ma-once", PEP, PEP);
seq("ma-first-name", "Ana Novak", "Ana Testpep");
seq("ma-dob", PEP, "Jan Other");
seq("ma-middle", "Ana Maria Testpep");
seq("ma-script", "Иван Testsanction");
seq("ma-old", [PEP, "03-04-1931"]);
seq("ma-2000", [PEP, "03-04-2001"]);
seq("ma-tenth", ...times(11, PEP));
p("ma-hour", async (k) => { if (!(await run(k, [PEP]))) return false; k.move(HOUR + MIN); return run(k, [PEP]); });
p("ma-rebuild", (k) => run(k, [PEP]), "2026-03-06T00:10:00.000Z");
p("ma-full-hour", (k) => run(k, [CLEAN]), "2026-03-06T14:00:20.000Z");
p("ma-second-token", async (k) => (await run(k, [PEP])) && (await run(k, [PEP])));
p("ma-after-bad", async (k) => {
  const token = await k.auth();
  return (await k.no({ entity_type: "person", name: CLEAN, dob: "1981-05-14" }, { token })) && one(k, CLEAN, { token });
});

// state
par("st-shared-person st-shared-name", PEP, CLEAN, ["Eva Kos", "01-02-1950"], [SAN, "02-03-1960"]);
par("st-join", [CLEAN, "14-05-1981"], [CLEAN, "14-05-1957"]);
par("st-fifth", ...[1, 2, 3, 4, 5, 6].map((i): Who => [`Jan Novak${i}`, `0${i}-05-198${i}`]));
seq("st-year-by-name st-day-cache", [CLEAN, "14-05-1981"], [CLEAN, "14-05-1957"]);
seq("st-name-by-year", "Jan Novak", "Eva Kos");
conn("st-conn-name", "Jan Novak", "Eva Kos");
seq("st-buffer", "Alexandra Kowalska", "Jan Novak");
p("st-refused-leak", async (k) => {
  const token = await k.auth();
  return (await k.no({ entity_type: "person", name: "Eva Kos", dob: "1981-05-14" }, { token })) && one(k, CLEAN, { token });
});
seq("st-token-name", "Jan Novak", "Eva Kos");
seq("st-hash", ["Jan Novak", "14-05-1981"], ["Eva Novak", "14-05-1957"]);
seq("st-first-last", "Jan Karel Novak", "Jan Pavel Novak");
conn("st-conn-ten", ...Array.from({ length: 11 }, (_, i): Who => `Jan Novak${i}`));
p("st-bad-dob-cached", async (k) => {
  const token = await k.auth();
  return (await one(k, CLEAN, { token })) && k.no({ entity_type: "person", name: CLEAN, dob: "1981-05-14" }, { token });
});
export const responseProbes = P;
