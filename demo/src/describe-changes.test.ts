import { describe, expect, test } from "vitest";
import { narrateEvent, narrateNode, narrateService } from "./describe-changes.ts";
import type { NodeView, ServiceView } from "./cluster/views.ts";

const registered: NodeView = {
  name: "node-1",
  isTainted: true,
  providerId: "",
  zone: "",
  instanceType: "",
  addresses: ["Hostname node-1"],
};
const initialised: NodeView = {
  name: "node-1",
  isTainted: false,
  providerId: "sim://i-1",
  zone: "north-1",
  instanceType: "small",
  addresses: ["InternalIP 127.10.0.1", "Hostname node-1"],
};

describe("narrateNode()", () => {
  test.each([
    ["tells of a registration", undefined, registered, ["registered, tainted: nothing may run on it yet"]],
    [
      "tells each fact from the cloud, the taint last",
      registered,
      initialised,
      ["is sim://i-1; is in zone north-1, a small; has InternalIP 127.10.0.1", "taint lifted: pods may run on it"],
    ],
    ["tells nothing of a heartbeat", initialised, { ...initialised }, []],
    [
      "tells of a changed address",
      initialised,
      { ...initialised, addresses: ["InternalIP 127.10.0.2"] },
      ["has InternalIP 127.10.0.2"],
    ],
    ["tells of a new taint", initialised, { ...initialised, isTainted: true }, ["tainted again"]],
    ["tells of a deletion", initialised, undefined, ["is gone"]],
    ["tells nothing of what never was", undefined, undefined, []],
  ])("%s", (_sentence, before, after, texts) => {
    expect(narrateNode(before, after).map(({ subject, text }) => `${subject} ${text}`)).toEqual(
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

describe("narrateService()", () => {
  test.each([
    ["tells of a new one", undefined, waiting, ["is of type LoadBalancer: waits for an address"]],
    ["tells its address", waiting, served, ["has address 127.20.0.1"]],
    ["tells nothing of an update", served, { ...served }, []],
    ["tells of a lost address", served, waiting, ["lost its address"]],
    ["tells of another type", served, { ...served, type: "ClusterIP" }, ["is of type ClusterIP now"]],
    ["tells of a deletion", served, undefined, ["is gone"]],
    ["tells nothing of other types", undefined, { ...served, type: "ClusterIP" }, []],
  ])("%s", (_sentence, before, after, texts) => {
    expect(narrateService(before, after).map(({ subject, text }) => `${subject} ${text}`)).toEqual(
      texts.map((text) => `default/web ${text}`),
    );
  });
});

describe("narrateEvent()", () => {
  test("takes a warning for bad news", () => {
    const event = { subject: "default/web", reason: "SyncLoadBalancerFailed", message: "no quota", isWarning: true };
    expect(narrateEvent(event)).toEqual({
      subject: "default/web",
      text: "SyncLoadBalancerFailed: no quota",
      tone: "bad",
    });
    expect(narrateEvent({ ...event, isWarning: false }).tone).toBe("quiet");
  });
});
