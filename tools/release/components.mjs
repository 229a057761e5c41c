/**
 * The lists of components of a release (SBOM) in CycloneDX 1.6: one for each tarball, and one for the image. Each lists
 * the packages that npm installs with it and those inside its bundle, which no audit of npm sees. Peer dependencies are
 * not in them: the user installs those.
 */
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { installed, ofImage } from "../container/rootfs.mjs"

const licenses = new Contrib.License.Factories.LicenseFactory((expression) => {
  if (!/^\(?[\w.+-]+( (OR|AND|WITH) [\w.+-]+)*\)?$/.test(expression)) throw new Error("not an SPDX expression")
})
const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))

const component = ({ isBundled = false, license, name, version }, type = Enums.ComponentType.Library) => {
  const [group, shortName] = name.startsWith("@") ? name.split("/") : [undefined, name]
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`
  return new Models.Component(type, shortName, {
    bomRef: isBundled ? `${purl}#bundled` : purl,
    group,
    licenses: new Models.LicenseRepository(license === undefined ? [] : [licenses.makeFromString(license)]),
    properties: new Models.PropertyRepository(
      isBundled ? [new Models.Property("cdx:npm:package:bundled", "true")] : []
    ),
    purl,
    version
  })
}

const write = (subject, components, date) => {
  for (const { bomRef } of components) subject.dependencies.add(bomRef)
  const bom = new Models.Bom({
    components: new Models.ComponentRepository(components),
    metadata: new Models.Metadata({ component: subject, timestamp: date })
  })
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

const bundledIn = (folder) => {
  const file = join(folder, "bundle/packages.json")
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).map((entry) => ({ ...entry, isBundled: true })) : []
}

/** Of the tarball of the package in this folder, after a build. */
export const ofTarball = (folder, date) => {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const packages = [...installed(Object.keys(manifest.dependencies ?? {}), folder), ...bundledIn(folder)]
  return write(component(manifest), packages.map((entry) => component(entry)), date)
}

/** Of the image that `packages/mock-server/Dockerfile` builds. */
export const ofImageOf = (nodeVersion, date) => {
  const mockServer = fileURLToPath(new URL("../../packages/mock-server", import.meta.url))
  const manifest = JSON.parse(readFileSync(join(mockServer, "package.json"), "utf8"))
  const image = new Models.Component(Enums.ComponentType.Container, "idv-mock", {
    bomRef: "idv-mock",
    version: manifest.version
  })
  const node = new Models.Component(Enums.ComponentType.Platform, "node", {
    bomRef: "node",
    purl: `pkg:generic/node@${nodeVersion}`,
    version: nodeVersion
  })
  const packages = [manifest, ...ofImage(), ...bundledIn(mockServer)]
  return write(image, [node, ...packages.map((entry) => component(entry))], date)
}
