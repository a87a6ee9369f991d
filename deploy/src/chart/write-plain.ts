// `npm run render -w @cloudwire/deploy`: writes what the chart renders into deploy/manifests. It needs Helm, so `npm run gen` does not;
// the suite `deploy` fails when the manifests are stale.
import { writeFile } from "node:fs/promises";
import { plainManifests } from "./plain.ts";

const manifests = new URL("../../manifests/", import.meta.url);
for (const [name, text] of Object.entries(await plainManifests())) await writeFile(new URL(name, manifests), text);
