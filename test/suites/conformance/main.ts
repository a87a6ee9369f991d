// `npm run conformance`: writes docs/conformance. What it needs is built before, as for the suite `languages`.
//   npm run conformance -- simulated-go      one provider's report, or several; the index takes the others as they are
// Without a name those that any machine can run: baremetal is named, and needs root;
// openstack is named, takes an hour at worst, and needs what `npm run test:openstack` has installed.
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { everySubject } from "./every-subject.ts";
import { filesOf, indexOf, type Published, publishedOf } from "./published.ts";
import { runAll } from "./run-all.ts";
import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

const directory = new URL("../../../docs/conformance/", import.meta.url);
const fileOf = (name: string): URL => new URL(name, directory);

const [...names] = process.argv.slice(2);
const unknown = names.filter((name) => !everySubject.some((subject) => subject.name === name));
if (unknown.length > 0)
  throw new Error(
    `there is no provider ${unknown.join(", ")}; there are ${everySubject.map(({ name }) => name).join(", ")}`,
  );

let isGood = true;
const chosen = names.length === 0 ? subjects : everySubject.filter(({ name }) => names.includes(name));
const runs = await runAll(chosen, ({ title }, { code, output }, elapsedMs) => {
  console.log(`\n${title}\n${output}\nexit code ${code} after ${(elapsedMs / 1_000).toFixed(0)} s`);
  isGood &&= code === 0;
});
const all: (readonly [Subject, Published])[] = [];
for (const subject of everySubject) {
  const run = runs.get(subject.name);
  if (run === undefined) {
    const published: Published = JSON.parse(await readFile(fileOf(`${subject.name}.json`), "utf8"));
    all.push([subject, published]);
    continue;
  }
  const published = publishedOf(run.report, subject);
  for (const [name, text] of Object.entries(filesOf(published, subject))) await writeFile(fileOf(name), text);
  all.push([subject, published]);
}
await writeFile(fileOf("README.md"), indexOf(all));
console.log(`\nwritten: ${fileURLToPath(directory)}`);
process.exitCode = isGood ? 0 : 1;
