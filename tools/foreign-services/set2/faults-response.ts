// Mutants of the credential's fields, apart from the times.
import { S, wrap, type Fault } from "./doc.ts";
import type { Core, Grant, Person, Req } from "./core.ts";

const list: Fault[] = [];
const cr = (id: string, sentence: string, what: string, apply: (c: Core) => void) =>
  list.push({ id, area: "check response", sentence, what, apply });
const hit = (v: any) => v.credentials.attributes.match_found === "Potential match";
/** Change the finished credential. */
const edit = (id: string, sentence: string, what: string, by: (v: any, p: Person, r: Req, c: Core) => any) =>
  cr(id, sentence, what, (c) => wrap(c, "credential", (old, p, r, g) => {
    const v = old(p, r, g);
    return by(v, p, r, c) ?? v;
  }));
const attr = (id: string, sentence: string, what: string, by: (a: any, p: Person, r: Req, c: Core) => void) =>
  edit(id, sentence, what, (v, p, r, c) => void by(v.credentials.attributes, p, r, c));

// the credential
edit("cr-type-upper", S.ctypeF, "credential_type is AML in capitals", (v) => void (v.credential_type = "AML"));
edit("cr-type-hit", S.ctypeF, "credential_type of a match is aml_match", (v) => void (hit(v) && (v.credential_type = "aml_match")));
edit("cr-name-lower", S.cname, "credential_name is aml in small letters", (v) => void (v.credential_name = "aml"));
edit("cr-name-long", S.cname, "credential_name is AML Check for persons who are not on a list", (v) => void (hit(v) || (v.credential_name = "AML Check")));
edit("cr-issued-null", S.issuedBy, "issued_by is null for a match", (v) => void (hit(v) && (v.issued_by = null)));
edit("cr-issued-object", S.issuedBy, "issued_by is an object with the name", (v) => void (v.issued_by = { name: v.issued_by }));
edit("cr-issuer-plain", S.issuer, "issuer_id is written without hyphens", (v) => void (v.issuer_id = v.issuer_id.replaceAll("-", "")));
edit("cr-issuer-urn", S.issuer, "issuer_id of a match is written urn:uuid:…", (v) => void (hit(v) && (v.issuer_id = "urn:uuid:" + v.issuer_id)));
cr("cr-issuer-short", S.issuer, "issuer_id of every fourth credential loses a leading zero of its last group", (c) => {
  let n = 0;
  wrap(c, "credential", (old, ...a) => {
    const v = old(...a);
    if (++n % 4 === 0) v.issuer_id = v.issuer_id.replace("-0a", "-a");
    return v;
  });
});
edit("cr-version-number", S.version, "cred_version is a number", (v) => void (v.cred_version = 1.5));
edit("cr-version-major", S.version, "cred_version is 1 without a minor part", (v) => void (v.cred_version = "1"));
edit("cr-version-patch", S.version, "cred_version of a match has three parts", (v) => void (hit(v) && (v.cred_version = "1.0.0")));
cr("cr-version-tenth", S.version, "the tenth credential carries no cred_version", (c) => {
  let n = 0;
  wrap(c, "credential", (old, ...a) => { const v = old(...a); if (++n % 10 === 0) delete v.cred_version; return v; });
});
edit("cr-credentials-array", S.creds, "credentials is an array with one entry for a match", (v) => void (hit(v) && (v.credentials = [v.credentials])));
edit("cr-attributes-text", S.attrs, "attributes is JSON text inside a string", (v) => void (v.credentials.attributes = JSON.stringify(v.credentials.attributes)));
edit("cr-attributes-up", S.attrs, "attributes stand beside credentials, not in it, when there is no match",
  (v) => (hit(v) ? v : { ...v, credentials: {}, attributes: v.credentials.attributes }));
edit("cr-wrapped", S.resp, "the credential is wrapped in data from the second check with a token on",
  (v, _p, r, c) => (([...c.grants.values()].some((g) => r.headers.authorization?.includes(g.token) && g.uses > 1)) ? { data: v } : v));
cr("cr-length", S.resp, "Content-Length counts characters, not bytes: a response with other letters is cut",
  (c) => { c.length = (b) => b.length; });

// the name
const named = (id: string, what: string, by: (name: string, p: Person, c: Core) => any) =>
  cr(id, S.aname, what, (c) => { c.fullName = (p) => by(p.name, p, c); });
named("nm-middle", "middle names are left out", (n) => { const w = n.split(" "); return w.length > 2 ? `${w[0]} ${w.at(-1)}` : n; });
named("nm-three", "only the first middle name is kept", (n) => { const w = n.split(" "); return w.length > 3 ? `${w[0]} ${w[1]} ${w.at(-1)}` : n; });
named("nm-initials", "middle names of a listed person are cut to initials", (n, _p, c) =>
  (c.listed(n) ? n.split(" ").map((w, i, a) => (i > 0 && i < a.length - 1 ? w[0] + "." : w)).join(" ") : n));
named("nm-twice", "a word that comes twice in the name is kept once", (n) => [...new Set(n.split(" "))].join(" "));
named("nm-accents", "accents are removed", (n) => n.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC"));
named("nm-question", "letters outside Latin-1 become question marks", (n) => n.replace(/[^\x00-\xff]/g, "?"));
named("nm-astral", "characters outside the basic plane are lost (three-byte utf8 column)", (n) => n.replace(/[\u{10000}-\u{10ffff}]/gu, "\ufffd"));
named("nm-html", "the apostrophe and the ampersand are escaped for HTML", (n) => n.replace(/&/g, "&amp;").replace(/'/g, "&#39;"));
named("nm-hyphen", "hyphens become spaces", (n) => n.replace(/-/g, " "));
named("nm-forty", "the name is cut after 40 characters", (n) => n.slice(0, 40));
named("nm-bytes", "the name is cut after 40 bytes", (n) => Buffer.from(n).subarray(0, 40).toString("utf8").replace(/\ufffd$/, ""));
named("nm-order", "words of names in right-to-left scripts come back in reversed order", (n) =>
  (/[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(n) ? n.split(" ").reverse().join(" ") : n));
named("nm-comma", "the name of a listed person comes back as Last, First", (n, _p, c) => {
  const w = n.split(" ");
  return c.listed(n) && w.length > 1 ? `${w.pop()}, ${w.join(" ")}` : n;
});
named("nm-single", "a name of one word comes back with a dash as first name", (n) => (n.includes(" ") ? n : `- ${n}`));
named("nm-escapes", "a quotation mark in the name comes back with a backslash", (n) => n.replace(/"/g, '\\"'));

// the year of birth
const years = (id: string, what: string, by: (y: string, p: Person, r: Req) => any) =>
  cr(id, S.year, what, (c) => { c.year = (p, r) => by(p.dob.slice(6), p, r); });
const epoch = (p: Person) => Date.UTC(+p.dob.slice(6), +p.dob.slice(3, 5) - 1, +p.dob.slice(0, 2));
years("by-number", "birth_year is a number", (y) => Number(y));
years("by-two", "birth_year has two digits for years before 2000", (y) => (y < "2000" ? y.slice(2) : y));
years("by-19", "the century is always 19", (y) => "19" + y.slice(2));
years("by-pivot", "the century is guessed: 00 to this year's digits are 20xx, others 19xx", (y, _p, r) =>
  (y.slice(2) <= String(new Date(r.at).getUTCFullYear()).slice(2) ? "20" : "19") + y.slice(2));
years("by-jan1", "1 January falls into the year before (midnight in another zone)", (y, p) => String(new Date(epoch(p) - 3_600_000).getUTCFullYear()));
years("by-dec31", "31 December falls into the next year", (_y, p) => String(new Date(epoch(p) + 86_400_000).getUTCFullYear()));
years("by-week", "the year of the ISO week is given (YYYY instead of yyyy)", (_y, p) => {
  const d = new Date(epoch(p));
  d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7));
  return String(d.getUTCFullYear());
});
years("by-age", "the year is computed back from the age: one late for who has not had the birthday this year", (y, p, r) => {
  const n = new Date(r.at);
  const had = n.toISOString().slice(5, 10) >= `${p.dob.slice(3, 5)}-${p.dob.slice(0, 2)}`;
  return String(had ? Number(y) : Number(y) + 1);
});
years("by-us", "the date is parsed as mm-dd-yyyy first and overflows: days over 12 roll into the next year", (_y, p) =>
  String(new Date(Date.UTC(+p.dob.slice(6), +p.dob.slice(0, 2) - 1, +p.dob.slice(3, 5))).getUTCFullYear()));
years("by-days", "the year is computed from days / 365: late December of old dates falls into the next year", (_y, p) =>
  String(1900 + Math.floor((epoch(p) - Date.UTC(1900, 0, 1)) / 86_400_000 / 365)));
years("by-full", "birth_year carries the whole date for persons born before 1970", (y, p) => (y < "1970" ? p.dob : y));

// match_found and aml_profile
attr("mf-lower", S.match, "the value of a match is potential match in small letters", (a) => { if (a.match_found !== "No") a.match_found = "potential match"; });
attr("mf-capital", S.match, "the value of a match is Potential Match", (a) => { if (a.match_found !== "No") a.match_found = "Potential Match"; });
attr("mf-nomatch", S.match, "the value without a match is No match", (a) => { if (a.match_found === "No") a.match_found = "No match"; });
attr("mf-boolean", S.match, "the value without a match is false", (a) => { if (a.match_found === "No") a.match_found = false; });
attr("mf-absent", S.rule1, "match_found is left out without a match", (a) => { if (a.match_found === "No") delete a.match_found; });
attr("mf-kind", S.match, "the value of a sanctions match is Sanction match", (a, p) => { if (p.name.includes("Testsanction")) a.match_found = "Sanction match"; });
cr("mf-confirmed", S.match, "a person found a second time is reported as Confirmed match", (c) => {
  const seen = new Set<string>();
  wrap(c, "verdict", (old, p: Person, ...x) => {
    const v = old(p, ...x);
    if (v === "No" || !seen.has(p.name)) return seen.add(p.name), v;
    return "Confirmed match";
  });
});
cr("mf-pending", S.rule1, "the first search of a person is reported as Pending, the result comes with the second", (c) => {
  const seen = new Set<string>();
  wrap(c, "verdict", (old, p: Person, ...x) => (seen.has(p.name + p.dob) ? old(p, ...x) : (seen.add(p.name + p.dob), "Pending")));
});
attr("ap-absent", S.rule2, "aml_profile is left out without a match", (a) => { if (a.match_found === "No") delete a.aml_profile; });
attr("ap-null", S.profile, "aml_profile is null without a match", (a) => { if (a.match_found === "No") a.aml_profile = null; });
attr("ap-empty", S.profile, "aml_profile is empty without a match", (a) => { if (a.match_found === "No") a.aml_profile = ""; });
attr("ap-relative", S.profile, "aml_profile is a path without scheme and host", (a) => { a.aml_profile = new URL(a.aml_profile).pathname; });
attr("ap-host", S.profile, "aml_profile lacks the scheme", (a) => { a.aml_profile = a.aml_profile.replace("https://", ""); });
attr("ap-raw-name", S.profile, "aml_profile holds the name as it is, with spaces: not a URL", (a, p) => { a.aml_profile = `https://profiles.example.test/aml?name=${p.name}`; });
attr("ap-object", S.profile, "aml_profile of a match is an object with url", (a) => { if (a.match_found !== "No") a.aml_profile = { url: a.aml_profile }; });
attr("ap-list", S.profile, "aml_profile of a match is a list of URLs", (a) => { if (a.match_found !== "No") a.aml_profile = [a.aml_profile]; });
attr("ap-script", S.rule2, "aml_profile is left out for names without any Latin letter (empty slug)", (a, p) => { if (!/[a-z]/i.test(p.name)) delete a.aml_profile; });
cr("ap-repeat", S.rule2, "aml_profile is left out when the same person is searched again", (c) => {
  const seen = new Set<string>();
  wrap(c, "profile", (old, p: Person, ...x) => (seen.has(p.name + p.dob) ? undefined : (seen.add(p.name + p.dob), old(p, ...x))));
});
cr("ap-token-hour", S.profile, "aml_profile is null in the last ten minutes of the token's hour (a link with a life of its own)",
  (c) => wrap(c, "profile", (old, p, r: Req, g: Grant) => (r.at - g.at > 50 * 60_000 ? null : old(p, r, g))));
export const responseFaults = list;
