// A small client for the self-test's probes.
import http from "node:http";
import { serve } from "./service.ts";

export type Opt = { token?: string | null; authorization?: string | null; type?: string | null; body?: string; agent?: http.Agent; pieces?: Buffer[]; id?: string; key?: string };
export type Probe = { start?: string; run: (k: Kit) => Promise<boolean> };
export const MIN = 60_000;
export const HOUR = 60 * MIN;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const JAN = { entity_type: "person", name: "Jan Novak", dob: "14-05-1981" };
const token = (v: any): string | null => {
  if (!v || typeof v !== "object") return null;
  for (const [k, x] of Object.entries(v)) {
    if (typeof x === "string" && x && (k === "token" || k === "access_token")) return x;
    const inner = token(x);
    if (inner) return inner;
  }
  return null;
};

export class Kit {
  zone: number | undefined; // how far searched_on is from UTC, learnt from the first credential
  agents: http.Agent[] = [];
  s: Awaited<ReturnType<typeof serve>>;
  clock: { t: number };
  constructor(s: Awaited<ReturnType<typeof serve>>, clock: { t: number }) { this.s = s; this.clock = clock; }
  move(ms: number) { this.clock.t += ms; }
  to(iso: string) { this.clock.t = Date.parse(iso); }
  agent() { const a = new http.Agent({ keepAlive: true, maxSockets: 1 }); this.agents.push(a); return a; }
  async end() { for (const a of this.agents) a.destroy(); await this.s.close(); }
  send(path: string, headers: Record<string, string>, body: string, o: Opt): Promise<any> {
    return new Promise((done) => {
      const req = http.request(this.s.url + path, { method: "POST", headers, agent: o.agent ?? new http.Agent() }, (res) => {
        const b: Buffer[] = [];
        res.on("data", (c) => b.push(c));
        res.on("error", () => done(null));
        res.on("end", () => { try { done(JSON.parse(Buffer.concat(b).toString())); } catch { done(null); } });
      });
      req.on("error", () => done(null));
      if (!o.pieces) return void req.end(body);
      void (async () => {
        for (const x of o.pieces!) { req.write(x); await new Promise((f) => setTimeout(f, 30)); }
        req.end();
      })();
    });
  }
  /** The token of a token request, null when none came. */
  async auth(o: Opt = {}): Promise<string | null> {
    const basic = "Basic " + Buffer.from(`${o.id ?? this.s.customerId}:${o.key ?? this.s.customerKey}`).toString("base64");
    const h: Record<string, string> = {};
    const a = o.authorization === undefined ? basic : o.authorization;
    if (a !== null) h.authorization = a;
    const t = o.type === undefined ? "application/x-www-form-urlencoded" : o.type;
    if (t !== null) h["content-type"] = t;
    return token(await this.send("/oauth/service", h, o.body ?? "grant_type=client_credentials", o));
  }
  aml(body: unknown, o: Opt = {}): Promise<any> {
    const h: Record<string, string> = {};
    const a = o.authorization !== undefined ? o.authorization : o.token ? `Bearer ${o.token}` : null;
    if (a !== null) h.authorization = a;
    if (o.type !== null) h["content-type"] = o.type ?? "application/json";
    return this.send("/api/aml", h, o.body ?? JSON.stringify(body), o);
  }
  /** No credential came back. */
  async no(body: unknown, o: Opt = {}): Promise<boolean> { return !/credential_type|match_found/.test(JSON.stringify(await this.aml(body, o))); }
  /** A right credential for this person came back. */
  async yes(name: string, dob: string, o: Opt = {}): Promise<boolean> {
    return this.good(await this.aml({ entity_type: "person", name, dob }, o), name, dob);
  }
  good(v: any, name: string, dob: string): boolean {
    const a = v?.credentials?.attributes;
    if (!a || typeof a !== "object" || Array.isArray(v.credentials)) return false;
    if (v.credential_type !== "aml" || v.credential_name !== "AML") return false;
    if (typeof v.issued_by !== "string" || !v.issued_by || typeof v.issuer_id !== "string" || !UUID.test(v.issuer_id)) return false;
    if (typeof v.cred_version !== "string" || !/^\d+\.\d+$/.test(v.cred_version)) return false;
    if (a.name !== name || a.birth_year !== dob.slice(6)) return false;
    if (a.match_found !== (/Test(pep|sanction|match)\S*$/.test(name) ? "Potential match" : "No")) return false;
    if (typeof a.aml_profile !== "string" || !/^https?:\/\/[^\s/]+[^\s]*$/i.test(a.aml_profile) || !URL.canParse(a.aml_profile)) return false;
    return this.timely(a.searched_on);
  }
  timely(s: any): boolean {
    if (typeof s !== "string" || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(s)) return false;
    const t = Date.parse(s.replace(" ", "T") + "Z");
    if (Number.isNaN(t) || new Date(t).toISOString().slice(0, 19).replace("T", " ") !== s) return false;
    const off = t - Math.floor(this.clock.t / 1000) * 1000;
    const zone = Math.round(off / (15 * MIN)) * 15; // any zone, in quarters of an hour
    if (Math.abs(off - zone * MIN) > 1000 || Math.abs(zone) > 14 * 60) return false;
    return (this.zone ??= zone) === zone;
  }
}
export const START = "2026-03-10T10:15:30.250Z";
export const withKit = async (style: string, fault: string | undefined, probe: Probe): Promise<boolean> => {
  const clock = { t: Date.parse(probe.start ?? START) };
  const k = new Kit(await serve({ style, now: () => clock.t, ...(fault ? { fault } : {}) }), clock);
  try { return await probe.run(k); } finally { await k.end(); }
};
