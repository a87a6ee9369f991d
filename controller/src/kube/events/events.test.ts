import { describe, expect, test } from "vitest";
import { node, service } from "../../../test/support/builders.ts";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { apiError, FakeKube, type KubeCall } from "../../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import type { EventInput } from "../../api/event.ts";
import { nodeReference } from "../../api/node.ts";
import { serviceReference } from "../../api/service.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { EventBroadcaster, EventCorrelator, type EventRecorder } from "./broadcaster.ts";
import { eventMetrics } from "./metrics.ts";

const web = serviceReference(service("web"));

function warning(message: string, reason = "SyncLoadBalancerFailed"): EventInput {
  return { regarding: web, type: "Warning", reason, message };
}

interface Rig {
  readonly clock: FakeClock;
  readonly kube: FakeKube;
  readonly metrics: Metrics;
  readonly log: FakeLog;
  readonly broadcaster: EventBroadcaster;
  readonly recorder: EventRecorder;
}

function rig(): Rig {
  const clock = new FakeClock();
  const kube = new FakeKube();
  const metrics = new Metrics();
  const log = new FakeLog();
  const broadcaster = new EventBroadcaster({
    client: kube,
    clock,
    random: () => 0.5,
    log,
    metrics: eventMetrics(metrics),
  });
  return { clock, kube, metrics, log, broadcaster, recorder: broadcaster.recorder("service-controller") };
}

const verbs = (kube: FakeKube): readonly KubeCall["verb"][] => kube.calls.map(({ verb }) => verb);

describe("EventBroadcaster", () => {
  test("creates an Event as upstream does", async () => {
    const { kube, recorder } = rig();
    recorder.record({
      regarding: web,
      type: "Normal",
      reason: "EnsuringLoadBalancer",
      message: "Ensuring load balancer",
    });
    await settle();
    expect(kube.calls).toEqual([
      {
        verb: "create",
        target: expect.stringMatching(/^events\/default\/web\.[0-9a-f]{16}$/),
        body: {
          apiVersion: "v1",
          kind: "Event",
          metadata: { namespace: "default", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
          involvedObject: {
            apiVersion: "v1",
            kind: "Service",
            namespace: "default",
            name: "web",
            uid: "uid-default-web",
            resourceVersion: "1",
          },
          reason: "EnsuringLoadBalancer",
          message: "Ensuring load balancer",
          source: { component: "service-controller" },
          firstTimestamp: "2026-11-21T12:00:00Z",
          lastTimestamp: "2026-11-21T12:00:00Z",
          count: 1,
          type: "Normal",
          eventTime: null,
          reportingComponent: "service-controller",
          reportingInstance: "",
        },
      },
    ]);
  });

  test("puts events of cluster-scoped objects into namespace default", async () => {
    const { kube, broadcaster } = rig();
    const regarding = nodeReference(node("n1"));
    broadcaster
      .recorder("cloud-node-controller")
      .record({ regarding, type: "Normal", reason: "Synced", message: "Node synced successfully" });
    await settle();
    expect(kube.calls.map(({ target }) => target.split(".")[0])).toEqual(["events/default/n1"]);
  });

  test("counts the same thing up with a patch", async () => {
    const { kube, clock, recorder } = rig();
    recorder.record(warning("no"));
    await clock.advance(5000);
    recorder.record(warning("no"));
    await settle();
    expect(verbs(kube)).toEqual(["create", "patch"]);
    const [created, patched] = kube.calls;
    expect(patched?.target).toBe(created?.target);
    expect(patched?.patch).toEqual({
      kind: "strategic",
      body: { count: 2, lastTimestamp: "2026-11-21T12:00:05Z", message: "no" },
    });
  });

  test("recreates it when the server has forgotten the first one", async () => {
    const { kube, recorder } = rig();
    recorder.record(warning("no"));
    await settle();
    kube.intercept = ({ verb }) => (verb === "patch" ? apiError("notFound") : undefined);
    kube.calls.length = 0;
    recorder.record(warning("no"));
    await settle();
    expect(verbs(kube)).toEqual(["patch", "create"]);
    expect(kube.calls[1]?.body).toMatchObject({ count: 2 });
  });

  test("sends the events of namespaces in turns (case A-6)", async () => {
    const { kube, recorder } = rig();
    const say = (namespace: string, name: string): void =>
      recorder.record({ ...warning("no"), regarding: { ...web, namespace, name } });
    for (const name of ["a", "b", "c"]) say("crowded", name);
    say("other", "d");
    await settle();
    const sent = kube.calls.map(({ target }) => target.split(".", 1)[0]);
    expect(sent).toEqual(["events/crowded/a", "events/other/d", "events/crowded/b", "events/crowded/c"]);
  });

  test("tries again after an outage, in order, and loses nothing", async () => {
    const { kube, clock, metrics, recorder } = rig();
    kube.intercept = () => apiError("transient");
    recorder.record(warning("one"));
    recorder.record(warning("two"));
    await clock.advance(6000);
    kube.intercept = () => undefined;
    kube.calls.length = 0;
    expect(await metrics.value("cloudwire_events_waiting")).toBe(2);
    await clock.advance(10_000);
    expect(await metrics.value("cloudwire_events_waiting")).toBe(0);
    expect(kube.calls.map(({ body }) => body?.["message"])).toEqual(["one", "two"]);
    expect(await metrics.value("cloudwire_events_sent_total")).toBe(2);
    expect(clock.timers).toBe(0);
  });

  test("drops what the server refuses and goes on", async () => {
    const { kube, metrics, recorder } = rig();
    kube.intercept = ({ body }) => (body?.["message"] === "one" ? apiError("forbidden") : undefined);
    recorder.record(warning("one"));
    recorder.record(warning("two"));
    await settle();
    expect(await metrics.value("cloudwire_events_sent_total")).toBe(1);
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "rejected" })).toBe(1);
  });

  test("drops what belongs to a terminating namespace without a retry or a warning (case S-9)", async () => {
    const { kube, log, metrics, recorder } = rig();
    kube.intercept = () => apiError("namespaceTerminating");
    recorder.record(warning("one"));
    await settle();
    expect(verbs(kube)).toEqual(["create"]);
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "namespace_terminating" })).toBe(1);
    expect(log.lines).toEqual([]);
  });

  test("says when it happened, however late it is reported", async () => {
    const { kube, clock, recorder } = rig();
    kube.intercept = () => apiError("transient");
    recorder.record(warning("one"));
    recorder.record(warning("two"));
    await clock.advance(60_000);
    kube.intercept = () => undefined;
    kube.calls.length = 0;
    await clock.advance(10_000);
    expect(kube.calls.map(({ body }) => body?.["lastTimestamp"])).toEqual([
      "2026-11-21T12:00:00Z",
      "2026-11-21T12:00:00Z",
    ]);
  });

  test("says in the log that an object goes quiet, again after half an hour, and of each object", async () => {
    const { clock, log, metrics, recorder } = rig();
    const say = (name: string): void => recorder.record({ ...warning("no"), regarding: { ...web, name } });
    const warned = (): readonly unknown[] =>
      log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["object"]);
    for (let i = 0; i < 30; i++) say("web");
    for (let i = 0; i < 30; i++) say("shop");
    await settle();
    expect(warned()).toEqual(["Service default/web", "Service default/shop"]);
    await clock.advance(1_800_001);
    for (let i = 0; i < 30; i++) say("web");
    expect(warned()).toEqual(["Service default/web", "Service default/shop", "Service default/web"]);
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "rate_limited" })).toBe(34);
  });

  test("keeps the places of others free of what is too much", async () => {
    const { kube, metrics, recorder } = rig();
    kube.intercept = () => new Promise(() => undefined);
    for (let i = 0; i < 5000; i++) recorder.record(warning("no"));
    recorder.record({ ...warning("no"), regarding: { ...web, name: "other" } });
    await settle();
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "rate_limited" })).toBe(4975);
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "full" })).toBeUndefined();
  });

  test("sends warnings before what is merely news", async () => {
    const { kube, recorder } = rig();
    const news = (name: string): EventInput => ({ ...warning("y", name), type: "Normal" });
    for (const input of [news("N1"), warning("x", "W1"), news("N2"), warning("x", "W2")]) recorder.record(input);
    await settle();
    expect(kube.calls.map(({ body }) => body)).toMatchObject(["W1", "W2", "N1", "N2"].map((reason) => ({ reason })));
  });

  test("rests after news three times as long as the server took, and not before a warning", async () => {
    const { clock, kube, recorder } = rig();
    const atMs: number[] = [];
    kube.intercept = () => {
      atMs.push(clock.monotonicMs());
      return new Promise((resolve) => clock.schedule(50, () => resolve()));
    };
    const startMs = clock.monotonicMs();
    for (const reason of ["W1", "W2"]) recorder.record(warning("x", reason));
    for (const reason of ["N1", "N2", "N3"]) recorder.record({ ...warning("y", reason), type: "Normal" });
    await clock.advance(1000);
    expect(atMs.map((ms) => ms - startMs)).toEqual([0, 50, 100, 300, 500]);
  });

  test("holds at most 16,384 and counts what it drops", async () => {
    const { kube, metrics, recorder } = rig();
    kube.intercept = () => new Promise(() => undefined);
    for (let i = 0; i < 16_395; i++) recorder.record({ ...warning("x"), regarding: { ...web, name: `s${i}` } });
    await settle();
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "full" })).toBe(11);
  });
});

describe("EventBroadcaster.flush()", () => {
  test("sends what is waiting", async () => {
    const { kube, broadcaster, recorder } = rig();
    recorder.record(warning("one"));
    recorder.record(warning("two"));
    await broadcaster.flush(new AbortController().signal);
    expect(kube.calls).toHaveLength(2);
  });

  test("does not rest after news", async () => {
    const { clock, kube, broadcaster, recorder } = rig();
    kube.intercept = () => new Promise((resolve) => clock.schedule(50, () => resolve()));
    for (const reason of ["N1", "N2"]) recorder.record({ ...warning("y", reason), type: "Normal" });
    await clock.advance(60);
    const flushed = broadcaster.flush(new AbortController().signal);
    await clock.advance(50);
    await flushed;
    expect(kube.calls).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });

  test("gives up at its limit and counts the rest", async () => {
    const { kube, clock, metrics, broadcaster, recorder } = rig();
    kube.intercept = () => apiError("transient");
    recorder.record(warning("one"));
    await settle();
    recorder.record(warning("two"));
    const limit = new AbortController();
    const flushed = broadcaster.flush(limit.signal);
    limit.abort();
    await flushed;
    recorder.record(warning("three"));
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "shutdown" })).toBe(3);
    expect(await metrics.value("cloudwire_events_waiting")).toBe(0);
    expect(clock.timers).toBe(0);
  });
});

describe("EventCorrelator", () => {
  const kinds = (correlator: EventCorrelator, inputs: readonly EventInput[]): readonly string[] =>
    inputs.map((input) => correlator.correlate("service-controller", input).kind);

  test("joins events that differ only in their message, from the tenth within ten minutes on", () => {
    const correlator = new EventCorrelator(new FakeClock());
    const results = Array.from({ length: 12 }, (_, i) => correlator.correlate("c", warning(`failed at ${i}`)));
    const reported = results.map((result) =>
      result.kind === "rate_limited" ? "rate_limited" : `${result.kind} ${result.event.message}`,
    );
    expect(reported.slice(8)).toEqual([
      "create failed at 8",
      "create (combined from similar events): failed at 9",
      "patch (combined from similar events): failed at 10",
      "patch (combined from similar events): failed at 11",
    ]);
  });

  test("counts one event for messages that differ only in IDs (case S-11)", () => {
    const correlator = new EventCorrelator(new FakeClock());
    const texts = ["0af76519cd43", "8448eb211c80", "0123456789ab"].map(
      (id) => `no address, request ID: 1${id}, lock ${id}`,
    );
    expect(texts.map((text) => correlator.correlate("c", warning(text)))).toMatchObject([
      { kind: "create", event: { message: "no address, request ID: …, lock 0af76519cd43", count: 1 } },
      { kind: "patch", event: { message: "no address, request ID: …, lock …", count: 2 } },
      { kind: "patch", event: { message: "no address, request ID: …, lock …", count: 3 } },
    ]);
  });

  test("makes another event for other names that a message is about (case S-11)", () => {
    const correlator = new EventCorrelator(new FakeClock());
    const text = (name: string, lock: string) => ({ ...warning(`no target: ${name}, lock ${lock}`), about: [name] });
    const texts = [
      text("worker-pool-a-0001", "0af76519cd43"),
      text("worker-pool-a-0002", "8448eb211c80"),
      text("worker-pool-a-0002", "0123456789ab"),
    ];
    expect(texts.map((one) => correlator.correlate("c", one))).toMatchObject([
      { kind: "create", event: { message: "no target: worker-pool-a-0001, lock 0af76519cd43" } },
      { kind: "create", event: { message: "no target: worker-pool-a-0002, lock 8448eb211c80" } },
      { kind: "patch", event: { message: "no target: worker-pool-a-0002, lock …" } },
    ]);
  });

  test("keeps the IDs of an event that reports one change (case S-11)", () => {
    const correlator = new EventCorrelator(new FakeClock());
    const changes = ["0af76519cd43", "8448eb211c80"].map((id) => ({
      ...warning(`done; request ID ${id}`),
      keepsIDs: true,
    }));
    expect(changes.map((change) => correlator.correlate("c", change))).toMatchObject([
      { kind: "create", event: { message: "done; request ID 0af76519cd43" } },
      { kind: "create", event: { message: "done; request ID 8448eb211c80" } },
    ]);
  });

  test("keeps a message that comes again among the joined ones", () => {
    const correlator = new EventCorrelator(new FakeClock());
    for (let i = 0; i < 10; i++) correlator.correlate("c", warning(`failed at ${i}`));
    const again = (i: number) => correlator.correlate("c", warning(`failed at ${i}`));
    expect([again(9), again(3), again(9)]).toMatchObject([
      { kind: "patch", event: { message: "(combined from similar events): failed at 9", count: 2 } },
      { kind: "patch", event: { message: "failed at 3", count: 2 } },
      { kind: "patch", event: { message: "(combined from similar events): failed at 9", count: 3 } },
    ]);
  });

  test("restarts after ten quiet minutes", async () => {
    const clock = new FakeClock();
    const correlator = new EventCorrelator(clock);
    for (let i = 0; i < 12; i++) correlator.correlate("c", warning(`failed at ${i}`));
    await clock.advance(600_001);
    const result = correlator.correlate("c", warning("failed at 12"));
    expect(result).toMatchObject({ kind: "create", event: { message: "failed at 12" } });
  });

  test("limits one object to 25 events, then one every five minutes; other objects are not limited", async () => {
    const clock = new FakeClock();
    const correlator = new EventCorrelator(clock);
    const same = Array.from({ length: 30 }, () => warning("no"));
    expect(kinds(correlator, same).filter((kind) => kind === "rate_limited")).toHaveLength(5);
    expect(kinds(correlator, [{ ...warning("no"), regarding: { ...web, name: "other" } }])).toEqual(["create"]);
    await clock.advance(300_000);
    expect(kinds(correlator, [warning("no"), warning("no")])).toEqual(["patch", "rate_limited"]);
  });

  test("names events by object and 16 hex digits, never the same twice in one millisecond", () => {
    const correlator = new EventCorrelator(new FakeClock());
    const long = { ...web, name: "x".repeat(253) };
    const names = ["a", "b", "c"].flatMap((message) => {
      const result = correlator.correlate("c", { ...warning(message), regarding: long });
      return result.kind === "rate_limited" ? [] : result.event.name;
    });
    expect(new Set(names).size).toBe(3);
    expect(names.every((name) => /^x{236}\.[0-9a-f]{16}$/.test(name))).toBe(true);
  });

  test("cuts a message at 1,024 bytes without breaking a character", () => {
    const result = new EventCorrelator(new FakeClock()).correlate("c", warning("ü".repeat(2000)));
    expect(result).toMatchObject({ kind: "create", event: { message: `${"ü".repeat(510)}...` } });
  });
});
