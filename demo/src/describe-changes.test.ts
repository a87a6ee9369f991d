import { describe, expect, test } from "vitest";
import { describeEvent, describeNodeChange, describeServiceChange } from "./describe-changes.ts";
import type { NodeView, ServiceView } from "./cluster/views.ts";

const registered: NodeView = {
  name: "node-1",
  isTainted: true,
  providerId: "",
  zone: "",
  instanceType: "",
  addresses: ["Hostname node-1"],
};
const initialized: NodeView = {
  name: "node-1",
  isTainted: false,
  providerId: "sim://i-1",
  zone: "north-1",
  instanceType: "small",
  addresses: ["InternalIP 127.10.0.1", "Hostname node-1"],
};

describe("describeNodeChange()", () => {
  test.each([
    [
      "describes a registration",
      undefined,
      registered,
      ["registered with the uninitialized taint: pods cannot be scheduled"],
    ],
    [
      "describes all values from the cloud, the taint last",
      registered,
      initialized,
      [
        "provider ID sim://i-1; zone north-1, instance type small; InternalIP 127.10.0.1",
        "taint removed: pods can be scheduled",
      ],
    ],
    ["ignores a heartbeat", initialized, { ...initialized }, []],
    [
      "describes a changed address",
      initialized,
      { ...initialized, addresses: ["InternalIP 127.10.0.2"] },
      ["InternalIP 127.10.0.2"],
    ],
    ["describes a new taint", initialized, { ...initialized, isTainted: true }, ["tainted again"]],
    ["describes a deletion", initialized, undefined, ["deleted"]],
    ["ignores a Node that never existed", undefined, undefined, []],
  ])("%s", (_sentence, before, after, texts) => {
    expect(describeNodeChange(before, after).map(({ subject, text }) => `${subject} ${text}`)).toEqual(
      texts.map((text) => `node-1 ${text}`),
    );
  });
});

const waiting: ServiceView = {
  key: "default/web",
  type: "LoadBalancer",
  ports: [{ port: 80, nodePort: 30_080 }],
  addresses: [],
};
const served: ServiceView = { ...waiting, addresses: ["127.20.0.1"] };

describe("describeServiceChange()", () => {
  test.each([
    ["describes a new Service", undefined, waiting, ["type LoadBalancer, waiting for an address"]],
    ["describes a new address", waiting, served, ["address 127.20.0.1"]],
    ["ignores an update", served, { ...served }, []],
    ["describes a removed address", served, waiting, ["address removed"]],
    ["describes a change of the type", served, { ...served, type: "ClusterIP" }, ["changed to type ClusterIP"]],
    ["describes a deletion", served, undefined, ["deleted"]],
    ["ignores other types", undefined, { ...served, type: "ClusterIP" }, []],
  ])("%s", (_sentence, before, after, texts) => {
    expect(describeServiceChange(before, after).map(({ subject, text }) => `${subject} ${text}`)).toEqual(
      texts.map((text) => `default/web ${text}`),
    );
  });
});

describe("describeEvent()", () => {
  test("marks a warning as bad", () => {
    const event = { subject: "default/web", reason: "SyncLoadBalancerFailed", message: "no quota", isWarning: true };
    expect(describeEvent(event)).toEqual({
      subject: "default/web",
      text: "SyncLoadBalancerFailed: no quota",
      tone: "bad",
    });
    expect(describeEvent({ ...event, isWarning: false }).tone).toBe("quiet");
  });
});
