#!/usr/bin/env node
import "@cloudwire/node-guard";
import { formatHelp, runProgram } from "@cloudwire/provider-sdk/program";
import { about, flags, program } from "./options/flags.ts";
import { parseOptions } from "./options/options.ts";
import { createOpenStackProvider } from "./provider.ts";

await runProgram({
  name: program,
  help: formatHelp(flags, { program, about }),
  read: parseOptions(process.argv.slice(2), process.env),
  create: createOpenStackProvider,
});
