/**
 * `@effect/experimental` has `ioredis` as an optional peer. The packages of this workspace with and without `ioredis`
 * would get two copies of it, and of all that depends on it. None uses Redis through it.
 */
const readPackage = (manifest) => {
  if (manifest.name === "@effect/experimental") {
    delete manifest.peerDependencies?.ioredis;
    delete manifest.peerDependenciesMeta?.ioredis;
  }
  return manifest;
};

module.exports = { hooks: { readPackage } };
