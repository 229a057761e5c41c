// The server, cut into small methods so that a fault can replace exactly one of them.
import http from "node:http";
import type { Style, Refusal } from "./styles.ts";

export const CUSTOMER_ID = "Onboarded-Verifier-4711";
export const CUSTOMER_KEY = "K3y:p+ssW0rd/Xy=:7q";
export type Req = {
  method: string; path: string; query: string; headers: http.IncomingHttpHeaders; body: string; conn: any; at: number;
};
export type Grant = { token: string; at: number; uses: number; last: number; [k: string]: any };
export type Person = { entity_type: string; name: string; dob: string };
export type Out = { status: number; type: string; body: string } | "close";

export class Core {
  grants = new Map<string, Grant>();
  started: number;
  style: Style;
  now: () => number;
  constructor(style: Style, now: () => number) {
    this.style = style;
    this.now = now;
    this.started = now();
  }
  refuse(kind: "token" | "aml" | "path"): Refusal { return this.style.refuse(kind); }
  async handle(r: Req): Promise<Out> {
    const at = r.path === "/oauth/service" ? "token" : r.path === "/api/aml" ? "aml" : null;
    if (!at || r.method !== "POST" || (r.query && !this.style.extras)) return this.refuse("path");
    return at === "token" ? this.token(r) : this.aml(r);
  }

  // ---- token endpoint
  async token(r: Req): Promise<Out> {
    if (!this.formTypeOk(r) || !this.clientOk(r) || !this.grantOk(r)) return this.refuse("token");
    const g = await this.issue(r);
    return this.reply(this.style.ok.token, this.tokenBody(g, r));
  }
  mediaType(r: Req): string {
    const t = String(r.headers["content-type"] ?? "");
    return this.style.loose ? t.split(";")[0]!.trim().toLowerCase() : t;
  }
  formTypeOk(r: Req): boolean { return this.mediaType(r) === "application/x-www-form-urlencoded"; }
  scheme(header: string | undefined, word: string): string | null {
    const m = (this.style.loose ? /^(\S+) +(\S+)\s*$/ : /^(\S+) (\S+)$/).exec(header ?? "");
    if (!m) return null;
    return m[1] === word || (this.style.loose && m[1]!.toLowerCase() === word.toLowerCase()) ? m[2]! : null;
  }
  basic(header: string | undefined): { id: string; key: string } | null {
    const v = this.scheme(header, "Basic");
    if (v === null) return null;
    const buf = Buffer.from(v, "base64");
    if (!this.style.loose && buf.toString("base64") !== v) return null;
    const text = buf.toString("utf8");
    const i = text.indexOf(":");
    return i < 0 ? null : { id: text.slice(0, i), key: text.slice(i + 1) };
  }
  clientOk(r: Req): boolean {
    const c = this.basic(r.headers.authorization);
    return !!c && this.idOk(c.id) && this.keyOk(c.key);
  }
  idOk(id: string): boolean { return id === CUSTOMER_ID; }
  keyOk(key: string): boolean { return key === CUSTOMER_KEY; }
  grantOk(r: Req): boolean {
    const f = [...new URLSearchParams(r.body)];
    const g = f.filter(([k]) => k === "grant_type");
    if (g.length !== 1 || (f.length !== 1 && !this.style.extras)) return false;
    return this.grantTypeOk(g[0]![1]);
  }
  grantTypeOk(v: string): boolean { return v === "client_credentials"; }
  issue(r: Req): Grant | Promise<Grant> {
    const g: Grant = { token: this.style.token(), at: r.at, uses: 0, last: r.at };
    this.grants.set(g.token, g);
    return g;
  }
  tokenBody(g: Grant, _r: Req): any { return this.style.tokenBody(g.token); }

  // ---- AML check
  async aml(r: Req): Promise<Out> {
    const g = await this.authorize(r);
    if (!g) return this.refuse("aml");
    const p = this.person(r);
    if (!p) return this.refuse("aml");
    return this.search(p, r, g);
  }
  bearer(header: string | undefined): string | null { return this.scheme(header, "Bearer"); }
  find(token: string): Grant | undefined { return this.grants.get(token); }
  alive(g: Grant, at: number): boolean { return this.style.life(at - g.at); }
  authorize(r: Req): Grant | null | Promise<Grant | null> {
    const t = this.bearer(r.headers.authorization);
    const g = t === null ? undefined : this.find(t);
    if (!g || !this.alive(g, r.at)) return null;
    g.uses++;
    g.last = r.at;
    return g;
  }
  parse(r: Req): any {
    const t = this.mediaType(r);
    if (!this.style.extras && t && !/^application\/json(; ?charset=utf-8)?$/i.test(t)) return null;
    try { return JSON.parse(r.body); } catch { return null; }
  }
  person(r: Req): Person | null {
    const o = this.parse(r);
    if (!this.shapeOk(o)) return null;
    return this.entityOk(o.entity_type, r) && this.nameOk(o.name, r) && this.dobOk(o.dob, r) ? o : null;
  }
  shapeOk(o: any): boolean {
    return !!o && typeof o === "object" && !Array.isArray(o) && (this.style.extras || Object.keys(o).every((k) => ["entity_type", "name", "dob"].includes(k)));
  }
  entityOk(v: any, _r: Req): boolean { return v === "person"; }
  nameOk(v: any, _r: Req): boolean {
    return typeof v === "string" && v.trim() !== "" && (this.style.loose || v === v.trim());
  }
  dobOk(v: any, r: Req): boolean {
    const m = typeof v === "string" ? /^(\d\d)-(\d\d)-(\d{4})$/.exec(v) : null;
    if (!m) return false;
    const [d, mo, y] = [Number(m[1]), Number(m[2]), Number(m[3])];
    if (d < 1 || d > 31 || mo < 1 || mo > 12) return false;
    if (this.style.loose) return true;
    const x = new Date(0);
    x.setUTCFullYear(y, mo - 1, d);
    return x.getUTCMonth() === mo - 1 && x.getTime() <= Math.max(r.at, Date.now()) + 86_400_000 && y >= 1850;
  }
  async lists(_p: Person, _r: Req): Promise<void> { await new Promise((f) => setImmediate(f)); }
  listed(name: string): boolean {
    const last = name.trim().split(/\s+/).pop()!;
    return (this.style.fold ? /testpep|testsanction|testmatch/i : /Testpep|Testsanction|Testmatch/).test(last);
  }
  verdict(p: Person, _r: Req, _g: Grant): any { return this.listed(p.name) ? "Potential match" : "No"; }
  fullName(p: Person, _r: Req, _g: Grant): any { return p.name; }
  year(p: Person, _r: Req): any { return p.dob.slice(6); }
  stamp(at: number, _p: Person, _r: Req, _g: Grant): any {
    return new Date(at + this.style.zone * 60_000).toISOString().slice(0, 19).replace("T", " ");
  }
  profile(p: Person, _r: Req, _g: Grant): any { return this.style.profile(p.name, p.dob); }
  attributes(p: Person, r: Req, g: Grant): any {
    return {
      name: this.fullName(p, r, g), birth_year: this.year(p, r), searched_on: this.stamp(r.at, p, r, g),
      match_found: this.verdict(p, r, g), aml_profile: this.profile(p, r, g),
    };
  }
  credential(p: Person, r: Req, g: Grant): any {
    const i = this.style.issuer;
    return {
      credential_type: "aml", credential_name: "AML", issued_by: i.name, issuer_id: i.id, cred_version: i.version,
      credentials: { attributes: this.attributes(p, r, g) },
    };
  }
  async search(p: Person, r: Req, g: Grant): Promise<Out> {
    await this.lists(p, r);
    return this.reply(this.style.ok.aml, this.style.dress(this.credential(p, r, g)));
  }
  reply(status: number, value: any): Out { return { status, type: this.style.type, body: this.style.text(value) }; }

  // ---- transport
  decode(chunks: Buffer[]): string { return Buffer.concat(chunks).toString("utf8"); }
  length(body: string): number { return Buffer.byteLength(body); }
  listen(): Promise<{ url: string; close: () => Promise<void> }> {
    const server = http.createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on("error", () => {});
      req.on("data", (c: Buffer) => chunks.push(c));
      req.on("end", async () => {
        const [path, query] = (req.url ?? "").split("?");
        const r: Req = {
          method: req.method!, path: path!, query: query ?? "", headers: req.headers,
          body: this.decode(chunks), conn: req.socket, at: this.now(),
        };
        let out: Out;
        try { out = await this.handle(r); } catch { out = this.refuse("path"); }
        if (out === "close") return void req.socket.destroy();
        res.writeHead(out.status, this.style.headers(out.type, this.length(out.body)));
        res.end(out.body);
      });
    });
    return new Promise((done) => server.listen(0, "127.0.0.1", () => done({
      url: `http://127.0.0.1:${(server.address() as any).port}`,
      close: () => new Promise<void>((f) => { server.close(() => f()); server.closeAllConnections(); }),
    })));
  }
}
