// What must not be in the tree: paths of one machine, and the hosts packages came from there.
import process from "node:process";
import { findTraces } from "./traces.ts";
import { treeTexts } from "../lib/tree.ts";

const traces = findTraces(await treeTexts());
for (const { path, line, found, rule } of traces) console.log(`${path}:${line} ${rule}: ${found}`);
process.exitCode = traces.length === 0 ? 0 : 1;
