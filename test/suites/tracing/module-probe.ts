/**
 * Preloaded into a program: a module hook that writes the name of every package of OpenTelemetry that is loaded, by import or by require, as a line
 * on standard error.
 */
const HOOK = `
import { registerHooks } from "node:module";
const seen = new Set();
registerHooks({
  load(url, context, next) {
    const [, name] = /node_modules\\/(@opentelemetry\\/[^/]+)\\//.exec(url) ?? [];
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      process.stderr.write("loaded " + name + "\\n");
    }
    return next(url, context);
  },
});
`;

/** For a program's environment. */
export const PROBE = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOOK)}` } as const;

/** The packages that the probe saw, sorted. */
export function loadedPackages(output: string): readonly string[] {
  return [...output.matchAll(/^loaded (\S+)$/gm)].map(([, name = ""]) => name).toSorted();
}
