import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { LiveOptions, type OptionChange } from "../options/live-options.ts";
import { parseAgain, parseCommand, TABLE } from "./options.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { ConfigReloader, reloadSummary } from "./config-reloader.ts";

const PATH = "/etc/cloudwire/config.yaml";
const HEAD = "apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n";

const span = (text: string): string => `${HEAD}Cloudwire:\n  NodeDeletionConfirmationPeriod: ${text}\n`;

/** `changed`: what the file says as soon as the settings were made of `first`. */
function follow(first: string, args: readonly string[] = [], changed = first) {
  const file = { text: first, tls: new Set(["/tls/ca", "/tls/crt", "/tls/key"]) };
  const clock = new FakeClock();
  const log = new FakeLog();
  const metrics = new Metrics();
  const applied: OptionChange[] = [];
  const readText = (path: string): string => {
    if (path === PATH && file.text !== "") return file.text;
    if (file.tls.has(path)) return "PEM";
    throw new Error(`no such file: ${path}`);
  };
  const sources = { args: [`--config=${PATH}`, "--provider=acme=unix:///p.sock", ...args], environment: {}, readText };
  const command = parseCommand(sources, new Set<string>());
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  const live = new LiveOptions(TABLE, command.options);
  file.text = changed;
  const reloader = new ConfigReloader({
    path: PATH,
    text: command.configText,
    readText,
    parse: (text) => parseAgain(sources, text, new Set<string>()),
    live,
    metrics,
    clock,
    log,
  });
  reloader.onApplied((changes) => applied.push(...changes));
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void reloader.run(stop.signal);
  const reloads = async (result: string) => metrics.value("cloudwire_config_reloads_total", { result });
  const isTaken = async () => metrics.value("cloudwire_config_last_reload_successful");
  return { file, clock, log, metrics, applied, live, reloader, reloads, isTaken };
}

describe("ConfigReloader", () => {
  test("puts a changed file in force once it was seen twice", async () => {
    const { file, clock, log, live, applied, reloads } = follow(span("30s"));
    await clock.advance(10_000);
    expect(await reloads("success")).toBeUndefined();
    file.text = span("1m");
    await clock.advance(2000);
    expect(live.current.nodeDeletionConfirmationPeriod).toBe(30_000);
    await clock.advance(2000);
    expect(live.current.nodeDeletionConfirmationPeriod).toBe(60_000);
    expect(applied).toEqual([{ flag: "--node-deletion-confirmation-period", from: "30s", to: "1m0s" }]);
    await clock.advance(60_000);
    expect(await reloads("success")).toBe(1);
    expect(log.lines).toEqual([
      {
        level: "info",
        message: "Reloaded the configuration file",
        fields: { file: PATH, changes: ["--node-deletion-confirmation-period from 30s to 1m0s"] },
      },
    ]);
  });

  test("changes nothing for an invalid file, and logs all problems together, once", async () => {
    const { file, clock, log, live, reloader, reloads, isTaken } = follow(span("30s"));
    expect(await isTaken()).toBe(1);
    file.text = `${span("soon")}  NodeDeletionMaxPercent: 500\n  V: 3\n`;
    await clock.advance(60_000);
    expect({ span: live.current.nodeDeletionConfirmationPeriod, v: live.current.v }).toEqual({ span: 30_000, v: 0 });
    expect(await reloads("failure")).toBe(1);
    expect(await isTaken()).toBe(0);
    const problems = [
      `${PATH}:4: Cloudwire.NodeDeletionConfirmationPeriod: "soon" is not a duration; write it like 300ms, 15s or 1m30s`,
      `${PATH}:5: Cloudwire.NodeDeletionMaxPercent: "500" is not a whole number from 0 to 100`,
    ];
    expect(log.lines.map(({ level, fields }) => ({ level, fields }))).toEqual([
      { level: "error", fields: { file: PATH, problems } },
    ]);
    expect(reloader.state.problems).toHaveLength(2);
    expect(reloadSummary(reloader.state)).toBe(`read 2026-11-21T12:00:00.000Z; rejected since: ${problems.join("; ")}`);

    file.text = span("2m");
    await clock.advance(4000);
    expect(await isTaken()).toBe(1);
    expect(live.current.nodeDeletionConfirmationPeriod).toBe(120_000);
    expect(reloadSummary(reloader.state)).toBe("read 2026-11-21T12:01:04.000Z");
  });

  test("treats a missing file as invalid", async () => {
    const { file, clock, live, reloads } = follow(span("45s"));
    file.text = "";
    await clock.advance(60_000);
    expect(await reloads("failure")).toBe(1);
    expect(live.current.nodeDeletionConfirmationPeriod).toBe(45_000);
  });

  test("logs one warning for settings that need a restart", async () => {
    const { file, clock, log, metrics, reloader, live } = follow(span("30s"));
    file.text = `${span("1m")}  ConfigureCloudRoutes: false\n`.replace(
      "  ConfigureCloudRoutes: false\n",
      "KubeCloudShared:\n  ClusterName: other\n  ConfigureCloudRoutes: false\n",
    );
    await clock.advance(4000);
    const changes = ["--cluster-name from kubernetes to other", "--configure-cloud-routes from true to false"];
    expect(log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
      { file: PATH, changes },
    ]);
    expect({ span: live.current.nodeDeletionConfirmationPeriod, name: live.current.clusterName }).toEqual({
      span: 60_000,
      name: "kubernetes",
    });
    expect(await metrics.value("cloudwire_config_settings_needing_restart")).toBe(2);
    expect(reloadSummary(reloader.state)).toBe(
      `read 2026-11-21T12:00:04.000Z; at the next restart: ${changes.join(", ")}`,
    );
  });

  test("prefers the command line to the file", async () => {
    const { file, clock, live } = follow(span("30s"), ["--node-deletion-confirmation-period=50s"]);
    file.text = span("1m");
    await clock.advance(4000);
    expect(live.current.nodeDeletionConfirmationPeriod).toBe(50_000);
  });

  test("puts a change in force that came while the process started", async () => {
    const { clock, live, reloads } = follow(span("30s"), [], span("1m"));
    await clock.advance(4000);
    expect({ span: live.current.nodeDeletionConfirmationPeriod, reloads: await reloads("success") }).toEqual({
      span: 60_000,
      reloads: 1,
    });
  });

  test("reloads a valid file while a file that is read only at the start is missing", async () => {
    const tls = "--provider-tls=far=ca=/tls/ca,cert=/tls/crt,key=/tls/key";
    const { file, clock, live, reloads } = follow(span("30s"), ["--provider=far=tcp://10.0.0.1:1", tls]);
    file.tls.clear();
    file.text = span("1m");
    await clock.advance(4000);
    expect({ span: live.current.nodeDeletionConfirmationPeriod, failures: await reloads("failure") }).toEqual({
      span: 60_000,
      failures: undefined,
    });
  });

  test("reload() applies the file immediately, changed or not", async () => {
    const { file, clock, live, reloader, reloads } = follow(span("30s"));
    reloader.reload();
    file.text = span("1m");
    reloader.reload();
    expect(live.current.nodeDeletionConfirmationPeriod).toBe(60_000);
    await clock.advance(60_000);
    expect(await reloads("success")).toBe(2);
  });
});
