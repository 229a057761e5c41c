/**
 * Tests the container image of the mock server without Docker: it assembles the file system of the Dockerfile, starts
 * its ENTRYPOINT in a chroot as its USER, and checks it from outside. With `umoci` it also writes an OCI image and
 * compares it with the file system. It needs root, for chroot, and a build: `pnpm build && pnpm container`.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { env, exit } from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import { assemble } from "./rootfs.mjs"

const print = (line) => process.stdout.write(`${line}\n`)

if (process.getuid?.() !== 0) throw new Error("chroot needs root: run this command as root")

const dockerfile = readFileSync(new URL("../../packages/mock-server/Dockerfile", import.meta.url), "utf8")

/** The last argument list of an instruction of the Dockerfile. */
const instruction = (pattern) => {
  const found = pattern.exec(dockerfile)?.[1]
  if (found === undefined) throw new Error(`The Dockerfile has no ${pattern.source}`)
  return found
}
const entrypoint = JSON.parse(instruction(/^ENTRYPOINT (.+)$/m))
const cmd = JSON.parse(instruction(/^CMD (.+)$/m))
const healthcheck = JSON.parse(instruction(/^HEALTHCHECK .*CMD (.+)$/m))
const user = instruction(/^USER (.+)$/m)

const work = mkdtempSync(join(tmpdir(), "container-"))
let server
process.on("exit", () => {
  server?.kill("SIGKILL")
  rmSync(work, { recursive: true, force: true })
})
const root = join(work, "rootfs")

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...filesIn(path)] : [path]
  }).sort()

/** Paths, permissions, times and contents. */
const digest = (root) => {
  const hash = createHash("sha256")
  for (const path of filesIn(root)) {
    const { mode, mtimeMs } = lstatSync(path)
    hash.update(`${relative(root, path)} ${mode} ${mtimeMs}\n`)
    if (lstatSync(path).isFile()) hash.update(readFileSync(path))
  }
  return hash.digest("hex")
}

const sizeOf = (folder) =>
  filesIn(folder).map((path) => lstatSync(path)).reduce((total, stat) => total + (stat.isFile() ? stat.size : 0), 0)
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/** The command that runs a program in the container, with a process tree of its own, in which it is process 1. */
const inside = (program) => [
  "unshare",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  `--mount-proc=${join(root, "proc")}`,
  "chroot",
  `--userspec=${user}`,
  "--groups=",
  root,
  ...program
]
const environment = { PATH: env["PATH"] ?? "", HOME: "/tmp" }
const run = (program, variables = {}) => {
  const [command, ...args] = inside(program)
  return spawnSync(command, args, { encoding: "utf8", env: { ...environment, ...variables }, timeout: 20_000 })
}

let failures = 0
const check = (name, actual, expected = true) => {
  const isEqual = JSON.stringify(actual) === JSON.stringify(expected)
  if (!isEqual) failures++
  print(
    isEqual ? `ok      ${name}` : `FAILED  ${name}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`
  )
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const childOf = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim())

const token = "a-token-of-this-test"

/** Writes an OCI image, as `docker build` does, and unpacks it again. */
const checkImage = () => {
  if (spawnSync("umoci", ["--version"]).error !== undefined) {
    return print("skipped the OCI image: umoci is not installed")
  }
  const layout = join(work, "image")
  const umoci = (...args) => execFileSync("umoci", args, { stdio: ["ignore", "ignore", "inherit"] })
  umoci("init", "--layout", layout)
  umoci("new", "--image", `${layout}:idv-mock`)
  umoci("insert", "--image", `${layout}:idv-mock`, root, "/")
  umoci(
    ...["config", "--image", `${layout}:idv-mock`, "--config.user", user, "--config.workingdir", "/tmp"],
    ...entrypoint.map((word) => `--config.entrypoint=${word}`),
    ...cmd.map((word) => `--config.cmd=${word}`),
    "--config.exposedports=4010/tcp"
  )
  umoci("unpack", "--image", `${layout}:idv-mock`, join(work, "unpacked"))
  check("an OCI image has the same files", digest(join(work, "unpacked/rootfs")), digest(root))
  print(`        size of the compressed image: ${mib(sizeOf(layout))}`)
}

assemble(root)
const again = join(work, "again")
assemble(again)
check("two assemblies are equal", digest(root), digest(again))
rmSync(again, { recursive: true })
print(`        sha256 ${digest(root)}`)
print(
  `        size: ${mib(sizeOf(root))}, of which Node is ${mib(sizeOf(join(root, "nodejs")))}, ` +
    `the command ${mib(sizeOf(join(root, "app")))}`
)
const secrets = filesIn(root).filter((path) => existsSync(path) && /\.pem$|\.env|\.npmrc|id_rsa|\.git(\/|$)/.test(path))
check("it has no file for secrets", secrets, [])
checkImage()

const refused = run([...entrypoint, ...cmd])
check("without a control token it does not start, and says why", [
  refused.status,
  /^Cannot listen on 0\.0\.0\.0:4010: beyond loopback the control API needs a token/.test(refused.stderr)
], [1, true])

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const from = Date.now()
const [command, ...args] = inside([...entrypoint, ...cmd, "--port", String(port)])
server = spawn(command, args, {
  env: { ...environment, IDV_MOCK_CONTROL_TOKEN: token },
  stdio: ["ignore", "pipe", "inherit"]
})
const status = (path, init) => fetch(`${url}${path}`, init).then(({ status }) => status, () => 0)
while (await status("/_mock/ready") !== 200) {
  if (Date.now() - from > 20_000 || server.exitCode !== null) throw new Error("The server is not ready after 20 s")
  await sleep(50)
}
check(`it is ready, after ${Date.now() - from} ms`, true)
const health = run([...healthcheck, String(port)])
check("the HEALTHCHECK succeeds", health.status, 0)

const pid = childOf(server.pid)
const uids = /^Uid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
check("it runs as the USER of the Dockerfile", uids?.split(/\s+/).every((uid) => uid === user.split(":")[0]))

const issued = await fetch(`${url}/oauth/service`, {
  method: "POST",
  headers: {
    authorization: `Basic ${btoa("demo-customer:demo-key")}`,
    "content-type": "application/x-www-form-urlencoded"
  },
  body: "grant_type=client_credentials"
})
const { access_token: accessToken } = await issued.json()
check("it issues a token", [issued.status, typeof accessToken], [200, "string"])
const checked = await fetch(`${url}/api/aml`, {
  method: "POST",
  headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
  body: JSON.stringify({ entity_type: "person", name: "Ada Testpep", dob: "14-03-1957" })
})
const { credentials } = await checked.json()
check("it performs a check", [checked.status, credentials?.attributes.match_found], [200, "Potential match"])

const authorization = `Bearer ${token}`
check("the control API needs the token", [
  await status("/_mock/sessions"),
  await status("/_mock/sessions", { headers: { authorization } })
], [401, 200])
check("the page, the documentation and the metrics work", [
  await status("/_mock/ui", { headers: { authorization } }),
  await status("/_mock/docs", { headers: { authorization } }),
  await status("/_mock/metrics", { headers: { authorization } })
], [200, 200, 200])

const write = (path) => run(["/nodejs/bin/node", "-e", `fs.writeFileSync(${JSON.stringify(path)}, "")`]).status === 0
check("it can write to /tmp, and not to its own files", [write("/tmp/x"), write("/app/x")], [true, false])
check("it has no shell", run(["/bin/sh", "-c", "true"]).status === 0, false)
const contract = run([...entrypoint, "contract", "--level", "unknown"])
check("the files of the contract are there", [contract.status, contract.stdout !== ""], [0, true])

const stopped = Date.now()
process.kill(pid, "SIGTERM")
const code = await Promise.race([new Promise((resolve) => server.once("exit", resolve)), sleep(8000, "still running")])
check(`SIGTERM stops it, after ${Date.now() - stopped} ms`, code, 0)
check("the HEALTHCHECK fails without the server", run([...healthcheck, String(port)]).status, 1)
exit(failures > 0 ? 1 : 0)
