#!/usr/bin/env node
import "@cloudwire/node-guard";

// Not a static import: linking what follows already needs the right Node.
await import("../dist/src/main.js");
