import { digestOf } from "./layer.ts";

/** Something that an image is made of. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** https://github.com/package-url/purl-spec */
  readonly purl: string;
  /** By SPDX's names, where its source says so in them. */
  readonly license?: string;
  /** Of what it was taken from, in hexadecimal. */
  readonly checksum?: { readonly algorithm: "SHA256" | "SHA512"; readonly value: string };
}

/** The list of an image's parts in SPDX 2.3: the same text for the same parts. */
export function spdxDocument(image: Component, parts: readonly Component[], created: Date): string {
  const sorted = parts.toSorted((left, right) => (left.purl < right.purl ? -1 : 1));
  const [root = "", ...ids] = [image, ...sorted].map(({ purl }) => `SPDXRef-${purl.replace(/[^A-Za-z0-9.-]+/g, "-")}`);
  const packages = [image, ...sorted].map((part, index) =>
    packageOf(part, index === 0 ? root : (ids[index - 1] ?? "")),
  );
  const relations = ids.map((id) => ({
    spdxElementId: root,
    relationshipType: "CONTAINS",
    relatedSpdxElement: id,
  }));
  return `${JSON.stringify(
    {
      spdxVersion: "SPDX-2.3",
      dataLicense: "CC0-1.0",
      SPDXID: "SPDXRef-DOCUMENT",
      name: `${image.name}-${image.version}`,
      // Has to be another for another list, and has to lead nowhere.
      documentNamespace: `urn:cloudwire:${image.name}:${digestOf(JSON.stringify(packages)).slice("sha256:".length)}`,
      creationInfo: { created: created.toISOString().replace(/\.\d+Z$/, "Z"), creators: ["Tool: cloudwire-images"] },
      documentDescribes: [root],
      packages,
      relationships: [
        { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: root },
        ...relations,
      ],
    },
    undefined,
    2,
  )}\n`;
}

function packageOf({ name, version, purl, license, checksum }: Component, id: string): object {
  return {
    SPDXID: id,
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: license ?? "NOASSERTION",
    copyrightText: "NOASSERTION",
    ...(checksum && { checksums: [{ algorithm: checksum.algorithm, checksumValue: checksum.value }] }),
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
  };
}
