import { readFileSync } from "node:fs";
import { serveProvider } from "@cloudwire/provider-sdk";
import { Cloud } from "./cloud.ts";
import { defineProvider } from "./provider.ts";
import { readSettings } from "./settings.ts";

const { settings, problems } = readSettings(process.env);
if (!settings) {
  for (const problem of problems) console.error(`acme-provider: ${problem}`);
  process.exit(78);
}
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
await serveProvider(defineProvider(new Cloud(settings.url, settings.token), version));
