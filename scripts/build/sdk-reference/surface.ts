import { treeTexts } from "../../lib/tree.ts";
import type { SdkExport, SdkPackage } from "./model.ts";

/** Exports and their members, one a line, without their documentation. */
export const renderSurface = (packages: readonly SdkPackage[]): string =>
  `${packages.flatMap(({ name, exports }) => exports.flatMap((found) => surfaceOf(found, name))).join("\n")}\n`;

const surfaceOf = ({ name, signature, members, parts }: SdkExport, path: string): readonly string[] => [
  `${path}: ${oneLine(signature)}`,
  ...members.map((member) => `${path}: ${name}: ${oneLine(member.signature)}`),
  ...parts.flatMap((part) => surfaceOf(part, `${path}: ${name}`)),
];

const oneLine = (signature: string): string => signature.replaceAll(/\s+/g, " ").trim();

/** The contract without its comments. */
export const contractSurface = async (): Promise<string> => {
  const files = await treeTexts(":(glob)proto/cloudprovider/**/*.proto");
  return [...files].map(([path, text]) => `# ${path}\n${withoutComments(text)}`).join("\n");
};

export const withoutComments = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(/^\s*\/\/.*$/, "").replace(/\s+\/\/ .*$/, ""))
    .filter((line) => line.trim() !== "")
    .join("\n")
    .concat("\n");
