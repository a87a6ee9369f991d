import { describe, expect, test } from "vitest";
import { LiveOptions } from "./live-options.ts";
import { type Options, parseCommand, TABLE } from "../app/options.ts";
import { settleCallRates } from "../provider/options.ts";

const options = (...args: readonly string[]): Options => optionsOf("--provider=acme=unix:///p.sock", ...args);

function optionsOf(...args: readonly string[]): Options {
  const command = parseCommand({ args, environment: {}, readText: () => "" }, new Set(["x"]));
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

describe("LiveOptions.apply()", () => {
  test("applies reloadable settings only", () => {
    const live = new LiveOptions(TABLE, options());
    const { current } = live;
    const changes = live.apply(
      options("--node-deletion-confirmation-period=1m", "-v=3", "--cluster-name=other", "--controllers=*,-x"),
    );
    expect(changes).toEqual({
      applied: [
        { flag: "--node-deletion-confirmation-period", from: "30s", to: "1m0s" },
        { flag: "--v", from: "0", to: "3" },
      ],
      needRestart: [
        { flag: "--controllers", from: "*", to: "*,-x" },
        { flag: "--cluster-name", from: "kubernetes", to: "other" },
      ],
    });
    expect({ span: current.nodeDeletionConfirmationPeriod, v: current.v, name: current.clusterName }).toEqual({
      span: 60_000,
      v: 3,
      name: "kubernetes",
    });
  });

  test("ignores settings with an unchanged value", () => {
    const live = new LiveOptions(TABLE, options("--node-deletion-confirmation-period=60s", "--controllers=*"));
    expect(live.apply(options("--node-deletion-confirmation-period=1m"))).toEqual({ applied: [], needRestart: [] });
  });

  test("restores the default of a removed setting", () => {
    const live = new LiveOptions(TABLE, options());
    live.apply(options("--node-monitor-period=1s"));
    expect(live.apply(options()).applied).toEqual([{ flag: "--node-monitor-period", from: "1s", to: "5s" }]);
    expect(live.current.nodeMonitorPeriod).toBe(5000);
  });

  test("keeps the call rate of a running provider that is no longer in the settings", () => {
    const limited = options("--provider-call-rate=acme=5");
    const live = new LiveOptions(TABLE, limited, settleCallRates);
    const { applied, needRestart } = live.apply(optionsOf("--provider=other=unix:///o.sock"));
    expect([applied, needRestart.map(({ flag }) => flag)]).toEqual([[], ["--provider"]]);
    expect(live.current.providerCallRate).toEqual(limited.providerCallRate);
  });

  test("changes the call rates of running providers while another one needs a restart", () => {
    const live = new LiveOptions(TABLE, options("--provider-call-rate=acme=5"), settleCallRates);
    const more = ["--provider=other=unix:///o.sock", "--provider-call-rate=other=9", "--provider-call-rate=acme=2"];
    const { applied } = live.apply(options(...more));
    expect(applied).toEqual([{ flag: "--provider-call-rate", from: "acme=5:5", to: "acme=2:2" }]);
  });

  test("lists all settings that need a restart, each time", () => {
    const live = new LiveOptions(TABLE, options());
    const wanted = options("--cluster-name=other");
    expect(live.apply(wanted).needRestart).toHaveLength(1);
    expect(live.apply(wanted).needRestart).toHaveLength(1);
  });
});

test("LiveOptions.current has the current value of every setting", () => {
  const live = new LiveOptions(TABLE, options());
  live.apply(options("-v=4"));
  expect({ ...live.current }).toEqual(options("-v=4"));
});
