// The docs check: every link within the tree leads somewhere, every flag, metric, event and test that is named exists, every block marked
// `test` works, every package is explained.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DEPENDENCY_PAGE, dependencyFaults, goManifest, type Manifest } from "./docs/dependency-table.ts";
import { brokenLinks } from "./docs/links.ts";
import { parsePage } from "./docs/markdown.ts";
import { unknownNames, unknownTests } from "./docs/names.ts";
import { failingSnippets } from "./docs/run-snippets.ts";
import { snippetsOf } from "./docs/snippets.ts";
import { ROOT } from "../lib/run.ts";
import { treeTexts } from "../lib/tree.ts";

const texts = await treeTexts("*.md");
const pages = new Map([...texts].map(([path, text]) => [path, parsePage(text)] as const));
const snippets = [...pages].flatMap(([path, page]) => snippetsOf(path, page));
const manifestTexts = await treeTexts(":(glob)**/package.json");
// Not those of the control plane and of upstream's controllers: they name every module of Kubernetes' own tree.
const goTexts = await treeTexts(
  ...["provider-sdk/go", "providers", "test/programs/bridged"].map((directory) => `:(glob)${directory}/**/go.mod`),
);
const manifests = new Map([
  ...[...manifestTexts].map(([path, text]): [string, Manifest] => [path, JSON.parse(text)]),
  ...[...goTexts].map(([path, text]): [string, Manifest] => [path, goManifest(text)]),
]);
const sources = await treeTexts(
  ...["controller", "providers/*", "provider-sdk/typescript"].map((directory) => `:(glob)${directory}/src/**/*.ts`),
  ":(glob)deploy/charts/**",
);
const faults = [
  ...brokenLinks(pages, (path) => existsSync(join(ROOT, path))),
  ...unknownNames(texts, sources.values()),
  ...unknownTests(texts, await treeTexts("*.test.ts")),
  ...dependencyFaults(manifests, texts.get(DEPENDENCY_PAGE) ?? ""),
  ...(await failingSnippets(snippets)),
];
for (const fault of faults) console.log(fault);
console.log(`${pages.size} pages, ${snippets.length} tested snippets, ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
