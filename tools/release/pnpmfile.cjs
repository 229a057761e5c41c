/** Adds the addresses of the repository to the manifest of a package while `pnpm release` packs it. */
exports.hooks = {
  beforePacking: (manifest, folder) => {
    const url = process.env.REPOSITORY_URL;
    return {
      ...manifest,
      repository: { type: "git", url: `git+${url}.git`, directory: `packages/${folder.split(/[\\/]/).at(-1)}` },
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
    };
  },
};
