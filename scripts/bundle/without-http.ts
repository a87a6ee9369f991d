import type { Plugin } from "rolldown";

const STAND_IN = "\0without-http";

/**
 * client-node reads kubeconfigs and authenticates; its requests we make ourselves (docs/decisions/0005). So the HTTP client behind them, 700 kB
 * and 2 MiB of memory, is left out: whatever would make one after all is told.
 */
export const withoutClientNodesHttp: Plugin = {
  name: "without-client-nodes-http",
  resolveId: (id) => (id === "undici" ? STAND_IN : undefined),
  load: (id) =>
    id === STAND_IN
      ? `function absent() { throw new Error("undici is not part of this bundle: scripts/bundle/without-http.ts"); }
         export { absent as Agent, absent as ProxyAgent, absent as fetch };`
      : undefined,
};
