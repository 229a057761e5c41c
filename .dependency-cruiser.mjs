/**
 * Which module may import which: packages first, then the rooms of the mock server and of the client. A room imports only
 * from those that precede it.
 */
const rooms = [
  "schema",
  "wire",
  "faults",
  "session",
  "journal",
  "operations",
  "service",
  "http",
  "page",
  "server",
  "mcp",
  "record",
  "clientTest",
  "command"
]
const room = (name) => `^packages/mock-server/src/internal/${name}/`

const coreRooms = ["schema", "names", "wire", "token", "tokenStore", "check", "screening"]
const coreRoom = (name) => `^packages/core/src/internal/${name}/`
const rescreeningRooms = ["ledger", "people", "worker", "report", "command"]
const rescreeningRoom = (name) => `^packages/rescreening/src/internal/${name}/`

/** The public modules of core in their layers. A module imports from its own layer and from those above it. */
const layers = [
  ["Violation", "Loopback", "Metrics"],
  ["TokenError", "AmlError", "Failure"],
  ["DateOfBirth", "PersonName", "Person"],
  ["AmlCredential", "AccessToken", "IdvApi", "IdvHttp"],
  ["TokenStore", "TokenSharing", "TokenStoreSql", "TokenStoreRedis", "TokenProvider"],
  ["AmlCheck", "AmlClient"],
  ["Screening", "WebError"],
  ["Idv"]
]
const layer = (names) => `^packages/core/src/(${names.join("|")})\\.ts$`
const src = (names) => `^packages/(${names.join("|")})/src/`

/** `@effect-idv/*` packages that the sources of each package may import. */
const packages = {
  core: [],
  contract: [],
  cli: ["core", "contract"],
  "mock-server": ["core", "contract", "cli"],
  rescreening: ["core", "cli"],
  "effect-4": ["core"],
  examples: ["core", "contract", "mock-server", "rescreening"]
}

const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to })

export default {
  forbidden: [
    forbid("no-circular", "No import circles, types included.", {}, { circular: true }),
    ...Object.entries(packages).map(([name, allowed]) =>
      forbid(
        `packages-${name}`,
        `packages/${name} imports only ${allowed.join(", ") || "no other package"}.`,
        { path: src([name]) },
        { path: "^(packages|tools)/", pathNot: src([name, ...allowed]) }
      )
    ),
    forbid(
      "commands-only",
      "Of the mock server, only the command uses the package cli: its bundle contains it.",
      { path: "^packages/mock-server/src/", pathNot: `${room("command")}|/bin\\.ts$` },
      { path: src(["cli"]) }
    ),
    forbid(
      "learning-only",
      "Of the mock server, only the command, with what it learns from a service, uses the package contract.",
      { path: "^packages/mock-server/src/", pathNot: `${["record", "command"].map(room).join("|")}|/bin\\.ts$` },
      { path: src(["contract"]) }
    ),
    forbid(
      "commands-only-rescreening",
      "Of rescreening, only the command uses the package cli: its bundle contains it.",
      { path: "^packages/rescreening/src/", pathNot: `${rescreeningRoom("command")}|/bin\\.ts$` },
      { path: src(["cli"]) }
    ),
    ...rescreeningRooms.map((name, floor) =>
      forbid(
        `rescreening-${name}`,
        `${name}/ imports only from the rooms below it: ${rescreeningRooms.slice(0, floor).join(", ") || "none"}.`,
        { path: rescreeningRoom(name) },
        { path: rescreeningRooms.slice(floor + 1).map(rescreeningRoom).join("|") || "^$" }
      )
    ),
    ...rooms.map((name, floor) =>
      forbid(
        `rooms-${name}`,
        `${name}/ imports only from the rooms below it: ${rooms.slice(0, floor).join(", ") || "none"}.`,
        { path: room(name) },
        { path: rooms.slice(floor + 1).map(room).join("|") || "^$" }
      )
    ),
    ...coreRooms.map((name, floor) =>
      forbid(
        `core-rooms-${name}`,
        `${name}/ of core imports only from the rooms that precede it: ${
          coreRooms.slice(0, floor).join(", ") || "none"
        }.`,
        { path: coreRoom(name) },
        { path: coreRooms.slice(floor + 1).map(coreRoom).join("|") || "^$" }
      )
    ),
    ...layers.slice(0, -1).map((names, i) =>
      forbid(
        `layers-${names[0]}`,
        `${names.join(", ")} import nothing from the layers below: ${layers.slice(i + 1).flat().join(", ")}.`,
        { path: layer(names) },
        { path: layer(layers.slice(i + 1).flat()) }
      )
    ),
    forbid(
      "engine-only",
      "Only the folder of the engine uses Effect 3.",
      { path: "^packages/effect-4/src/", pathNot: "^packages/effect-4/src/internal/engine/" },
      { path: "node_modules/effect-3/|/effect@3" }
    ),
    forbid("no-internals", "Another package's internals are closed.", { path: "^packages/([^/]+)/src/" }, {
      path: "^packages/[^/]+/src/internal/",
      pathNot: "^packages/$1/"
    }),
    forbid("no-unresolved", "Every import resolves.", {}, { couldNotResolve: true })
  ],
  options: {
    tsConfig: { fileName: "tsconfig.base.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: [".ts", ".tsx", ".mjs", ".js"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"]
    },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|bundle|\\.documents|node_modules/.cache)/" }
  }
}
