import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";

const PREFIX = "\0builtin:";

/**
 * Modules of Node as plain objects. An import of one asks it for all it exports, and with that for what it would load when first used:
 * of node:http that is WebSocket, and behind it a second HTTP client, 6 MiB and 50 ms (Node 24.21, lib/http.js).
 */
export const plainBuiltins: Plugin = {
  name: "plain-builtins",
  resolveId: (id, importer) => (isBuiltin(id) && !isRuntime(importer) ? `${PREFIX}${id}` : undefined),
  load: (id) =>
    id.startsWith(PREFIX)
      ? `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(PREFIX.length))});`
      : undefined,
};

/** Rolldown's own, which the module above needs itself. */
function isRuntime(importer: string | undefined): boolean {
  return importer?.startsWith("\0rolldown/") ?? false;
}
