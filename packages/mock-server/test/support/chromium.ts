/**
 * Finds a Chrome or Chromium: the one of `CHROMIUM_PATH`, else an installed one, else the one inside
 * the npm package `@sparticuz/chromium`, which needs no installation.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Browser, chromium } from "playwright-core"

/** How to start one browser. `env` has what the packaged one needs: its own libraries and fonts. */
interface Candidate {
  readonly executablePath: string
  readonly env?: Readonly<Record<string, string>>
}

const usualPlaces: { readonly [platform in NodeJS.Platform]?: ReadonlyArray<string> } = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium"
  ],
  linux: [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium"
  ],
  win32: ["C:\\Program Files", "C:\\Program Files (x86)"].map((folder) =>
    `${folder}\\Google\\Chrome\\Application\\chrome.exe`
  )
}

/** The browser that `playwright install` downloads is the first choice: it fits this Playwright. */
const installed: ReadonlyArray<Candidate> = [chromium.executablePath(), ...usualPlaces[process.platform] ?? []]
  .filter(existsSync)
  .map((executablePath) => ({ executablePath }))

const cache = fileURLToPath(new URL("../../../../node_modules/.cache", import.meta.url))

const fontsConf = (folder: string) =>
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/cache</cachedir></fontconfig>
`

/**
 * Unpacks the packaged browser once for each version, with the libraries and fonts that the machine
 * may not have. The package unpacks into the directory for temporary files and treats existing files
 * as complete, so it gets a directory of its own, which is renamed when it is complete.
 */
const unpack = (main: string): Promise<Candidate> => {
  const folder = join(cache, `chromium-${createHash("sha256").update(main).digest("hex").slice(0, 8)}`)
  const fontconfig = join(folder, "fonts.conf")
  const candidate = {
    executablePath: join(folder, "chromium"),
    env: { FONTCONFIG_FILE: fontconfig, LD_LIBRARY_PATH: join(folder, "al2023", "lib") }
  }
  if (existsSync(fontconfig)) return Promise.resolve(candidate)
  const script = `require(${JSON.stringify(main)}).executablePath()`
  const complete = (draft: string) => {
    // On this runtime the package unpacks the libraries too.
    const env = { TMPDIR: draft, AWS_LAMBDA_JS_RUNTIME: "nodejs20.x" }
    return promisify(execFile)(process.execPath, ["-e", script], { env })
      .then(() => writeFile(join(draft, "fonts.conf"), fontsConf(join(folder, "fonts"))))
      .then(() => rename(draft, folder))
      // Another process may have been faster: then its directory stays.
      .catch((error) => rm(draft, { recursive: true }).then(() => existsSync(fontconfig) || Promise.reject(error)))
  }
  return mkdir(cache, { recursive: true })
    .then(() => mkdtemp(`${folder}-`))
    .then(complete)
    .then(() => candidate)
}

const { version } = createRequire(import.meta.url)("playwright-core/package.json")

const help = `Run "npx playwright-core@${version} install chromium", or set CHROMIUM_PATH to a Chrome or Chromium.`

/** The message of the last error in the output of a process, without its stack and properties. */
const lastErrorOf = (output: string): string => output.match(/(?<=Error: ).+/g)?.at(-1)?.replace(/\W+$/, "") ?? output

/** The package holds a build for Linux on x64 only. */
const packaged: Effect.Effect<Candidate, Error> = process.platform === "linux" && process.arch === "x64"
  ? Effect.tryPromise({
    try: () => unpack(createRequire(import.meta.url).resolve("@sparticuz/chromium")),
    catch: (error) => new Error(`The packaged Chromium cannot be unpacked: ${lastErrorOf(String(error))}`)
  })
  : Effect.fail(new Error("The page is tested in Chromium, and none starts on this machine"))

const args = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** What the browser printed last, or else what Playwright says. */
const reasonOf = (error: unknown): string => {
  const lines = String(error).replace(/^.*browserType\.launch: /, "").split("\n")
  return (lines.findLast((line) => line.includes("[err]")) ?? lines[0] ?? "").replace(/^.*\[err\] */, "")
}

const start = ({ env, executablePath }: Candidate): Effect.Effect<Browser, Error> =>
  Effect.tryPromise({
    try: () => chromium.launch({ executablePath, args, timeout: 120_000, ...env && { env: { ...env } } }),
    catch: (error) => new Error(`${executablePath} does not start as a Chromium: ${reasonOf(error)}`)
  })

/** The browser to start, for a program that starts it itself: the first of the same order. */
export const executable: Effect.Effect<Candidate, Error> = Effect.flatMap(
  Effect.orDie(Config.option(Config.nonEmptyString("CHROMIUM_PATH"))),
  Option.match({
    onSome: (executablePath) => Effect.succeed({ executablePath }),
    onNone: () => Effect.orElse(Effect.fromNullable(installed[0]), () => packaged)
  })
)

/** Starts the browser of `CHROMIUM_PATH`, or else the first that starts. Fails with the reason of the last one. */
export const launch: Effect.Effect<Browser, Error> = Effect.gen(function*() {
  const chosen = yield* Effect.orDie(Config.option(Config.nonEmptyString("CHROMIUM_PATH")))
  if (Option.isSome(chosen)) {
    return yield* Effect.mapError(
      start({ executablePath: chosen.value }),
      ({ message }) => new Error(`CHROMIUM_PATH: ${message}`)
    )
  }
  return yield* Effect.firstSuccessOf([
    ...installed.map(start),
    Effect.mapError(Effect.flatMap(packaged, start), ({ message }) => new Error(`${message}. ${help}`))
  ])
})
