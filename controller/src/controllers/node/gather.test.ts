import { beforeEach, describe, expect, test } from "vitest";
import { instance, type NodeParts, node as bareNode, taint } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/kube/fake-informer.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { idleProvider, info, instanceCapabilities } from "../../../test/support/provider/provider-builders.ts";
import type { Node } from "../../api/node.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { Instance, InstanceResult } from "../../provider/model/instance.ts";
import type { InstanceQuestion } from "../../provider/lookup/instance-reader.ts";
import type { Provider } from "../../provider/model/provider.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { gather } from "./gather.ts";
import { createNodeCache, type NodeCache } from "./node-cache.ts";
import { nodeMetrics } from "./metrics.ts";

/** With an address, as by the kubelet's --node-ip. */
const node = (name: string, parts: NodeParts = {}): Node =>
  bareNode(name, { ...parts, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], ...parts.status } });

const TAINT = taint("node.cloudprovider.kubernetes.io/uninitialized");

/** What was asked, and how: provider ID or name, age allowed, priority, at one provider alone. */
type Asked = readonly [string, number, string | undefined, string?];

let nodes: FakeInformer<Node>;
let cache: NodeCache;
let providers: Provider[];
let asked: Asked[];
let answers: Record<string, InstanceResult>;
/** Happens while the provider is asked. */
let duringLookup: () => void;
beforeEach(() => {
  nodes = new FakeInformer<Node>();
  cache = createNodeCache({ nodeStatusUpdateFrequency: 1000 }, nodeMetrics(new Metrics()), new FakeClock());
  providers = [idleProvider("other", undefined), idleProvider("acme", info())];
  asked = [];
  answers = {};
  duringLookup = () => undefined;
});

function gathered() {
  const instances = {
    get: (subject: Node, { maxDataAgeMs, priority, at }: InstanceQuestion) => {
      const by = subject.spec.providerID === "" ? subject.metadata.name : subject.spec.providerID;
      asked.push(at === undefined ? [by, maxDataAgeMs, priority] : [by, maxDataAgeMs, priority, at]);
      duringLookup();
      return Promise.resolve(answers[by] ?? ABSENT);
    },
  };
  return gather(
    { nodes: nodes.lister, instances, providers: { providers }, cache },
    {
      key: "a",
      priority: "high",
      signal: new AbortController().signal,
      log: new FakeLog(),
      reconcileID: "",
      failures: 0,
    },
  );
}

const WITNESS = { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: 0 };
const ABSENT: InstanceResult = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: 0,
  strong: true,
  witness: WITNESS,
};
const UNKNOWN: InstanceResult = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "m") };
const present = (parts: Partial<Instance> = {}): InstanceResult => ({
  kind: "present",
  instance: instance({ name: "a", ...parts }),
  readTimeMs: 0,
  witness: WITNESS,
});
const initialized = (providerID = "acme://1") => node("a", { spec: { providerID } });
const waiting = (providerID = "") => node("a", { spec: { providerID, taints: [TAINT] } });

const LOW: readonly [number, string] = [500, "low"];

describe("gather() of a Node that waits", () => {
  test("asks at once for what is new", async () => {
    nodes.set(waiting());
    answers = { a: present() };
    expect(await gathered()).toEqual({
      kind: "waiting",
      node: waiting(),
      result: present(),
      byName: { kind: "notQueried" },
      noAddressForMs: 0,
    });
    expect(asked).toEqual([["a", 1000, undefined]]);
  });

  test("asks for the machine of its name when that of its ID is absent", async () => {
    nodes.set(waiting("acme://1"));
    answers = { a: present({ providerId: "acme://2" }) };
    expect(await gathered()).toMatchObject({ byName: { kind: "queried", providerId: "acme://2" } });
    expect(asked).toEqual([
      ["acme://1", 1000, undefined],
      ["a", ...LOW, "acme"],
    ]);
  });

  test("asks for its name once when it has no ID", async () => {
    nodes.set(waiting());
    expect(await gathered()).toMatchObject({ result: ABSENT, byName: { kind: "notQueried" } });
    expect(asked).toHaveLength(1);
  });

  test("is known when it is initialized, without being asked for again", async () => {
    nodes.set(waiting());
    answers = { a: present({ zone: "z" }) };
    await gathered();
    nodes.set(initialized());
    expect(await gathered()).toMatchObject({ kind: "initialized", observed: { instance: { zone: "z" } } });
    expect(asked).toHaveLength(1);
  });
});

describe("gather() of an initialized Node", () => {
  test("asks once a tick, in no hurry", async () => {
    nodes.set(initialized());
    answers = { "acme://1": present() };
    await gathered();
    expect(await gathered()).toMatchObject({
      kind: "initialized",
      observed: { instance: { name: "a" } },
      duplicates: [],
    });
    expect(asked).toEqual([["acme://1", ...LOW]]);
  });

  test("asks again in the tick when its provider ID is another", async () => {
    nodes.set(initialized("acme://1"));
    answers = { "acme://1": present(), "acme://2": present({ providerId: "acme://2", zone: "z" }) };
    await gathered();
    nodes.set(initialized("acme://2"));
    expect(await gathered()).toMatchObject({ observed: { instance: { zone: "z" } } });
  });

  test("uses the cached instance while the cloud does not answer, and asks again", async () => {
    nodes.set(waiting());
    answers = { a: present({ zone: "z" }), "acme://1": UNKNOWN };
    await gathered();
    cache.refreshes.forget("a");
    nodes.set(initialized());
    expect(await gathered()).toMatchObject({ observed: { instance: { zone: "z" } } });
    await gathered();
    expect(asked.map(([by]) => by)).toEqual(["a", "acme://1", "acme://1"]);
  });

  test("forgets what was known of a machine that is another provider's now", async () => {
    nodes.set(waiting());
    answers = { a: present({ zone: "z" }), "acme://1": { kind: "notOwned", message: "m" } };
    await gathered();
    cache.refreshes.forget("a");
    nodes.set(initialized());
    expect(await gathered()).toMatchObject({ observed: undefined });
    await gathered();
    expect(asked).toHaveLength(2);
  });

  test.each<{ readonly it: string; readonly ofName: InstanceResult; readonly byName: object }>([
    {
      it: "another machine",
      ofName: present({ providerId: "acme://2" }),
      byName: { kind: "queried", providerId: "acme://2" },
    },
    { it: "no machine", ofName: ABSENT, byName: { kind: "queried", providerId: undefined } },
    {
      it: "an unowned instance",
      ofName: { kind: "notOwned", message: "m" },
      byName: { kind: "queried", providerId: undefined },
    },
    { it: "nothing for now", ofName: UNKNOWN, byName: { kind: "notQueried" } },
  ])("whose machine is called otherwise finds $it by its name", async ({ ofName, byName }) => {
    nodes.set(initialized());
    answers = { "acme://1": present({ name: "otherwise" }), a: ofName };
    expect(await gathered()).toMatchObject({ observed: { instance: { name: "otherwise" }, byName } });
    expect(asked).toEqual([
      ["acme://1", ...LOW],
      ["a", ...LOW, "acme"],
    ]);
  });

  test("asks for its name again when that was not known, or the machine was renamed once more", async () => {
    nodes.set(initialized());
    answers = { "acme://1": present({ name: "otherwise" }), a: UNKNOWN };
    const names = ["otherwise", "otherwise", "otherwise", "again", "again"];
    const byName: number[] = [];
    for (const [round, name] of names.entries()) {
      answers = { "acme://1": present({ name }), a: round === 0 ? UNKNOWN : ABSENT };
      cache.refreshes.forget("a");
      await gathered();
      byName.push(asked.filter(([by]) => by === "a").length);
    }
    expect(byName).toEqual([1, 2, 2, 3, 3]);
  });

  test("asks for no name where the provider finds machines by ID only", async () => {
    providers = [
      idleProvider("acme", info({ capabilities: { instances: instanceCapabilities({ lookupByName: false }) } })),
    ];
    nodes.set(initialized());
    answers = { "acme://1": present({ name: "otherwise" }) };
    expect(await gathered()).toMatchObject({ observed: { byName: { kind: "notQueried" } } });
    expect(asked).toHaveLength(1);
  });

  test("that has no ID and is called otherwise asks for nothing more", async () => {
    nodes.set(initialized(""));
    answers = { a: present({ name: "otherwise" }) };
    expect(await gathered()).toMatchObject({ observed: { byName: { kind: "notQueried" } } });
    expect(asked).toHaveLength(1);
  });

  test("is taken as it is after the lookup", async () => {
    nodes.set(initialized());
    answers = { "acme://1": present() };
    const edited = node("a", { metadata: { labels: { edited: "in the meantime" } }, spec: { providerID: "acme://1" } });
    duringLookup = () => nodes.set(edited);
    expect(await gathered()).toMatchObject({ node: edited });
  });

  test.each(["before", "while"])("that is gone %s it is asked about leaves nothing", async (when) => {
    cache.providerIds.note("a", "acme://1");
    cache.providerIds.note("b", "acme://1");
    if (when === "while") nodes.set(initialized());
    duringLookup = () => nodes.delete("a");
    expect(await gathered()).toBeUndefined();
    expect(cache.providerIds.duplicates("b")).toEqual([]);
  });

  test.each<{ readonly it: string; readonly result: InstanceResult; readonly duplicates: readonly string[] }>([
    { it: "names others with the same ID", result: present(), duplicates: ["b"] },
    { it: "names them also when the machine is absent", result: ABSENT, duplicates: ["b"] },
    { it: "names none for an unowned instance", result: { kind: "notOwned", message: "m" }, duplicates: [] },
  ])("$it", async ({ result, duplicates }) => {
    nodes.set(initialized());
    answers = { "acme://1": result };
    cache.providerIds.note("b", "acme://1");
    expect(await gathered()).toMatchObject({ duplicates });
  });
});
