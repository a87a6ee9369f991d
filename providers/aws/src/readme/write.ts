// npm run gen: writes the tables of the README.
import { readFileSync, writeFileSync } from "node:fs";
import { withTables } from "@cloudwire/provider-sdk/program";
import { tables } from "./tables.ts";

const readme = new URL("../../README.md", import.meta.url);
writeFileSync(readme, withTables(readFileSync(readme, "utf8"), tables));
