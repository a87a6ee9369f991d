#!/usr/bin/env node
import "@cloudwire/node-guard";
import { serveProvider } from "@cloudwire/provider-sdk";
import { formatHelp } from "./options/flags.ts";
import { parseOptions } from "./options/options.ts";
import { createOpenStackProvider } from "./provider.ts";

/** EX_CONFIG, as the SDK ends for what it finds wrong itself. */
const misconfigured = 78;

const parsed = parseOptions(process.argv.slice(2), process.env);
switch (parsed.kind) {
  case "help":
    process.stdout.write(formatHelp());
    break;
  case "problems":
    for (const problem of parsed.problems) process.stderr.write(`cloudwire-provider-openstack: ${problem}\n`);
    process.exitCode = misconfigured;
    break;
  case "options": {
    const { endpoint, ...options } = parsed.options;
    const provider = await serveProvider(createOpenStackProvider(options), { endpoint });
    // One line that a parent process waits for.
    process.stdout.write(`provider ready ${provider.address}\n`);
    break;
  }
}
