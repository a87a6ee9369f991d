import { expect, test } from "vitest";
import { LiveOptions } from "../options/live-options.ts";
import { type Options, parseCommand, TABLE } from "./options.ts";
import { cloudNodeSettings } from "./cloud-node.ts";
import { nodeLifecycleSettings } from "./node-lifecycle.ts";
import { nodeRouteSettings } from "./node-route.ts";
import { serviceLbSettings } from "./service-lb.ts";

function options(...args: readonly string[]): Options {
  const sources = { args: ["--provider=acme=unix:///p.sock", ...args], environment: {}, readText: () => "" };
  const command = parseCommand(sources, new Set());
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

/** Each with the controller that is made of it, and what that reads before and after a change. */
const SETTINGS = [
  {
    flag: "route-reconciliation-period",
    to: "7m",
    settings: nodeRouteSettings,
    before: { periodMs: 300_000 },
    after: { periodMs: 420_000 },
  },
  {
    flag: "load-balancer-drift-period",
    to: "0s",
    settings: serviceLbSettings,
    before: { driftPeriodMs: 600_000 },
    after: { driftPeriodMs: 0 },
  },
  {
    flag: "adopt-load-balancers",
    to: "true",
    settings: serviceLbSettings,
    before: { adoptsLoadBalancers: false },
    after: { adoptsLoadBalancers: true },
  },
  {
    flag: "node-status-update-frequency",
    to: "1m",
    settings: cloudNodeSettings,
    before: { refreshPeriodMs: 300_000 },
    after: { refreshPeriodMs: 60_000 },
  },
  {
    flag: "node-monitor-period",
    to: "9s",
    settings: nodeLifecycleSettings,
    before: { periodMs: 5000 },
    after: { periodMs: 9000 },
  },
  {
    flag: "node-deletion-confirmations",
    to: "4",
    settings: nodeLifecycleSettings,
    before: { confirmations: 2 },
    after: { confirmations: 4 },
  },
  {
    flag: "node-deletion-span",
    to: "1m",
    settings: nodeLifecycleSettings,
    before: { spanMs: 30_000 },
    after: { spanMs: 60_000 },
  },
  {
    flag: "node-deletion-max-percent",
    to: "20",
    settings: nodeLifecycleSettings,
    before: { maxPercent: 10 },
    after: { maxPercent: 20 },
  },
];

/** What no controller has: the level of the log is read at each line (main.ts), call rates are set anew (provider-side.ts). */
const OF_THE_PROCESS = ["v", "provider-call-rate"];

test.each(SETTINGS)(
  "a change of --$flag reaches the settings of its controller",
  ({ flag, to, settings, ...wanted }) => {
    const live = new LiveOptions(TABLE, options());
    const effective: object = settings(live.current);
    expect(effective).toMatchObject(wanted.before);
    live.apply(options(`--${flag}=${to}`));
    expect(effective).toMatchObject(wanted.after);
  },
);

test("every reloadable setting is looked at here, or is none of a controller's", () => {
  const reloadable = [...TABLE.byName].filter(([, { flag }]) => flag.reloadable === true).map(([name]) => name);
  expect(reloadable.toSorted()).toEqual([...SETTINGS.map(({ flag }) => flag), ...OF_THE_PROCESS].toSorted());
});
