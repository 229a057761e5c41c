/** What `pnpm release` changes in the manifest of a package while it packs it. */
exports.hooks = {
  beforePacking: (manifest, folder) => {
    const url = process.env.REPOSITORY_URL;
    const { dependencies = {} } = manifest;
    return {
      ...manifest,
      // pnpm replaces the ranges of the workspace at the same time, in any order.
      dependencies: Object.fromEntries(Object.keys(dependencies).sort().map((name) => [name, dependencies[name]])),
      repository: { type: "git", url: `git+${url}.git`, directory: `packages/${folder.split(/[\\/]/).at(-1)}` },
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
    };
  },
};
