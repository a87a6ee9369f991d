import { expect, test } from "vitest";
import { LiveOptions } from "../options/live-options.ts";
import { type Options, parseCommand, TABLE } from "./options.ts";

function options(...args: readonly string[]): Options {
  const sources = { args: ["--provider=acme=unix:///p.sock", ...args], environment: {}, readText: () => "" };
  const command = parseCommand(sources, new Set());
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

/** What controllers read whenever they need it. */
const SETTINGS = [
  { flag: "route-reconciliation-period", to: "7m", key: "routeReconciliationPeriod", before: 300_000, after: 420_000 },
  { flag: "load-balancer-drift-period", to: "0s", key: "loadBalancerDriftPeriod", before: 600_000, after: 0 },
  { flag: "allow-load-balancer-adoption", to: "true", key: "allowLoadBalancerAdoption", before: false, after: true },
  { flag: "node-status-update-frequency", to: "1m", key: "nodeStatusUpdateFrequency", before: 300_000, after: 60_000 },
  { flag: "node-address-timeout", to: "0s", key: "nodeAddressTimeout", before: 300_000, after: 0 },
  { flag: "node-monitor-period", to: "9s", key: "nodeMonitorPeriod", before: 5000, after: 9000 },
  { flag: "node-deletion-confirmations", to: "4", key: "nodeDeletionConfirmations", before: 2, after: 4 },
  {
    flag: "node-deletion-confirmation-period",
    to: "1m",
    key: "nodeDeletionConfirmationPeriod",
    before: 30_000,
    after: 60_000,
  },
  { flag: "node-deletion-max-percent", to: "20", key: "nodeDeletionMaxPercent", before: 10, after: 20 },
  { flag: "node-deletion-protection", to: "true", key: "nodeDeletionProtection", before: false, after: true },
] as const;

/** Not read by controllers: the log level (process.ts) and call rates (provider/providers.ts). */
const OF_THE_PROCESS = ["v", "provider-call-rate"];

test.each(SETTINGS)(
  "a change of --$flag reaches the options that its controller was given",
  ({ flag, to, key, ...wanted }) => {
    const live = new LiveOptions(TABLE, options());
    const { current } = live;
    expect(current[key]).toBe(wanted.before);
    live.apply(options(`--${flag}=${to}`));
    expect(current[key]).toBe(wanted.after);
  },
);

test("every reloadable setting is looked at here, or is none of a controller's", () => {
  const reloadable = [...TABLE.byName].filter(([, { flag }]) => flag.reloadable === true).map(([name]) => name);
  expect(reloadable.toSorted()).toEqual([...SETTINGS.map(({ flag }) => flag), ...OF_THE_PROCESS].toSorted());
});
