/**
 * Runs VitePress. pnpm passes on the `--` of `docs:serve -- --port 5000`, where VitePress would stop reading options.
 */
const [node, program, command, ...options] = process.argv
process.argv = [node, program, command, import.meta.dirname, ...options.filter((option) => option !== "--")]
await import("vitepress/dist/node/cli.js")
