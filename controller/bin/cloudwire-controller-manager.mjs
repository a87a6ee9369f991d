#!/usr/bin/env node
// Plain JavaScript that any Node can read: it says so when the wrong one runs, before that one chokes on what follows.
const WANTED = [24, 21];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])) {
  console.error(
    `cloudwire-controller-manager: needs Node ${WANTED.join(".")} or newer, but ${process.execPath} is Node ${process.versions.node}; run it with a newer one`,
  );
  process.exit(1);
}
await import("../dist/src/main.js");
