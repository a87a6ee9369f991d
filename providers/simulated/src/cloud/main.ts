#!/usr/bin/env node
import "@cloudwire/node-guard";

// Loaded after the guard has let this Node pass: a Node without node:sqlite could not even link the rest.
const { runCli } = await import("./cli.ts");
await runCli();
