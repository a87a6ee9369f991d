import { createRequire } from "node:module";
import type { Plugin } from "rolldown";

/**
 * Packages whose ECMAScript modules ask for others through a `require` of their own making, when they first need them. No bundler sees
 * that, and nothing is there to be found beside a bundle; of their CommonJS modules it is seen.
 */
const PACKAGES: ReadonlySet<string> = new Set(["@opentelemetry/otlp-grpc-exporter-base"]);

const { resolve } = createRequire(import.meta.url);

export const asCommonJs: Plugin = {
  name: "as-commonjs",
  resolveId: (id) => (PACKAGES.has(id) ? resolve(id) : undefined),
};
