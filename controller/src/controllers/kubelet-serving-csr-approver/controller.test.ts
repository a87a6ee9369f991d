import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { dns, ecKey, ip, requestDer, encodeRequest } from "../../../test/support/node/certificate-requests.ts";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { KubeletServingHarness } from "../../../test/support/node/kubelet-serving-harness.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "../../kube/resources/certificate-signing-request.ts";
import { contractError } from "../../provider/model/errors.ts";

const ADDRESS = { type: "InternalIP", address: "10.0.0.1" };
const OTHER = { type: "InternalIP", address: "10.0.0.2" };
const AWAY = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "503") } as const;

let world: KubeletServingHarness;
beforeEach(() => {
  world = new KubeletServingHarness();
});
afterEach(() => world.stop());

describe("kubelet-serving-csr-approver approves", () => {
  test("a request that the cloud bears out, with one write and no event", async () => {
    world.machine("node-a", [ADDRESS]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(60_000);
    expect(world.kube.writes).toEqual([
      {
        verb: "patch",
        target: "certificatesigningrequests/csr-1/approval",
        patch: {
          kind: "merge",
          body: {
            metadata: { uid: "uid-csr-1", resourceVersion: expect.any(String) },
            status: {
              conditions: [
                expect.objectContaining({
                  type: "Approved",
                  status: "True",
                  reason: "AutoApproved",
                  message: "According to the cloud, acme://node-a is node node-a and has: node-a, 10.0.0.1",
                }),
              ],
            },
          },
        },
      },
    ]);
    expect([world.asked, world.events]).toEqual([["node-a"], []]);
    expect([await world.decisions("approved")]).toEqual([1]);
  });

  test("one that comes later, at once", async () => {
    world.machine("node-a", [ADDRESS]);
    world.start();
    await world.clock.advance(1000);
    world.ask("csr-1");
    await world.clock.advance(1);
    expect(world.approved).toEqual(["patch certificatesigningrequests/csr-1/approval"]);
  });

  test("one whose address the cloud shows later, after some seconds, having said why not before", async () => {
    world.machine("node-a", [OTHER]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(4000);
    const why = `instance "acme://node-a" does not have "10.0.0.1", but "10.0.0.2"`;
    expect(world.events).toEqual([
      `csr-1: Request is not approved: ${why}`,
      `node-a: The kubelet's request for a serving certificate is not approved: ${why}`,
    ]);
    expect(await world.notApproved("addressUnknown")).toBe(1);
    world.cloudSays("node-a", [OTHER, ADDRESS]);
    await world.clock.advance(4000);
    expect(world.approved).toHaveLength(1);
    expect(world.events).toHaveLength(2);
    expect(await world.notApproved("addressUnknown")).toBe(0);
  });

  test("one whose Node changes, without waiting", async () => {
    world.machine("node-a", []);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(100_000);
    world.cloudSays("node-a", [ADDRESS]);
    const asked = world.asked.length;
    world.nodes.set(node("node-a", { spec: { providerID: "acme://node-a" }, status: { addresses: [ADDRESS] } }));
    await world.clock.advance(1);
    expect([world.approved.length, world.asked.length - asked]).toEqual([1, 1]);
  });

  test("one whose Node comes later", async () => {
    world.cloudSays("node-a", [ADDRESS]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(1);
    expect([world.asked, await world.notApproved("nodeNotFound")]).toEqual([[], 1]);
    world.nodes.set(node("node-a"));
    await world.clock.advance(1);
    expect(world.approved).toHaveLength(1);
  });

  test("one that waited for a provider as soon as it is ready, and says nothing of a short wait", async () => {
    world.machine("node-a", [ADDRESS]);
    world.says.set("node-a", AWAY);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(9000);
    world.cloudSays("node-a", [ADDRESS]);
    world.providerReady();
    await world.clock.advance(1);
    expect([world.approved.length, world.events]).toEqual([1, []]);
  });

  test("nothing twice when the cache is behind, nor when another client was faster", async () => {
    world.machine("node-a", [ADDRESS]);
    let conflicts = 1;
    world.kube.intercept = () => (conflicts-- > 0 ? apiError("conflict") : undefined);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(500);
    expect(world.approved).toHaveLength(1);
    await world.clock.advance(1000);
    expect(world.approved).toHaveLength(2);
    await world.clock.advance(600_000);
    expect(world.approved).toHaveLength(2);
  });

  test("again with back-off when the server refuses", async () => {
    world.machine("node-a", [ADDRESS]);
    world.kube.intercept = () => apiError("forbidden");
    world.ask("csr-1");
    world.start();
    await world.clock.advance(600_000);
    expect(world.approved.length).toBeGreaterThan(3);
    expect(world.approved.length).toBeLessThan(15);
  });

  test("nothing that has gone meanwhile", async () => {
    world.machine("node-a", [ADDRESS]);
    world.kube.intercept = () => apiError("notFound");
    world.ask("csr-1");
    world.start();
    await world.clock.advance(600_000);
    expect(world.approved).toHaveLength(1);
  });
});

describe("kubelet-serving-csr-approver leaves", () => {
  test("a request that never can be right to others: one look, one event, no question to the cloud", async () => {
    world.machine("node-a", [ADDRESS]);
    world.ask("csr-1", {}, { usages: ["client auth"] });
    world.start();
    await world.clock.advance(600_000);
    world.providerReady();
    world.nodes.set(node("node-a", { status: { addresses: [ADDRESS] } }));
    await world.clock.advance(1);
    expect([world.approved, world.asked]).toEqual([[], []]);
    expect(world.events).toEqual([
      expect.stringMatching(/^csr-1: Request is not approved: its usages are "client auth";/),
    ]);
    expect([await world.decisions("wrongUsages"), await world.notApproved("wrongUsages")]).toEqual([1, 1]);
    world.requests.delete("csr-1");
    await world.clock.advance(1);
    expect(await world.notApproved("wrongUsages")).toBe(0);
  });

  test("a request of one node for another", async () => {
    world.machine("node-a", [ADDRESS]);
    world.ask("csr-1", {}, { username: "system:node:node-b" });
    world.start();
    await world.clock.advance(60_000);
    expect([world.approved, await world.decisions("requesterNotNode")]).toEqual([[], 1]);
  });

  test("a Node that has taken another's machine", async () => {
    world.machine("node-b", [ADDRESS]);
    const theirs = world.says.get("node-b") ?? AWAY;
    world.machine("node-a", []);
    world.says.set("node-a", theirs);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(60_000);
    expect([world.approved, await world.notApproved("nodeNameUnconfirmed")]).toEqual([[], 1]);
  });

  test("what others have decided, and other signers' requests", async () => {
    world.machine("node-a", [ADDRESS]);
    world.ask("csr-1", {}, { signerName: "kubernetes.io/kube-apiserver-client-kubelet" });
    world.ask("csr-2");
    const stored = world.kube.stored(CERTIFICATE_SIGNING_REQUESTS, { name: "csr-2" });
    world.kube.seed(CERTIFICATE_SIGNING_REQUESTS, { ...stored, status: { conditions: [{ type: "Denied" }] } });
    world.show("csr-2");
    world.start();
    await world.clock.advance(600_000);
    expect([world.approved, world.asked, world.events]).toEqual([[], [], []]);
  });

  test("a request alone that an operator decides about while it waits", async () => {
    world.machine("node-a", [OTHER]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(1);
    const stored = world.kube.stored(CERTIFICATE_SIGNING_REQUESTS, { name: "csr-1" });
    world.kube.seed(CERTIFICATE_SIGNING_REQUESTS, { ...stored, status: { conditions: [{ type: "Denied" }] } });
    world.show("csr-1");
    await world.clock.advance(1);
    expect(await world.notApproved("addressUnknown")).toBe(0);
    const asked = world.asked.length;
    await world.clock.advance(600_000);
    expect([world.approved, world.asked.length]).toEqual([[], asked]);
  });

  test("a request that is an hour old, after ever rarer looks", async () => {
    world.machine("node-a", [OTHER]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(240_000);
    const early = world.asked.length;
    await world.clock.advance(600_000);
    expect([early < 25, world.asked.length - early]).toEqual([true, 10]);
    await world.clock.advance(3_600_000);
    const looks = world.asked.length;
    world.nodes.set(node("node-a", { status: { addresses: [ADDRESS] } }));
    world.providerReady();
    await world.clock.advance(3_600_000);
    expect([world.asked.length, world.approved, world.events.length]).toEqual([looks, [], 2]);
    expect(await world.notApproved("addressUnknown")).toBe(0);
  });
});

test("kubelet-serving-csr-approver waits while the provider that answers is not trusted", async () => {
  world.machine("node-a", [ADDRESS]);
  world.untrustedReason = "it works in another scope";
  world.ask("csr-1");
  world.start();
  await world.clock.advance(60_000);
  expect([world.approved, await world.notApproved("providerUntrusted")]).toEqual([[], 1]);
  world.untrustedReason = undefined;
  await world.clock.advance(60_000);
  expect(world.approved).toHaveLength(1);
});

describe("kubelet-serving-csr-approver says", () => {
  test("why a provider that stays away holds a request up", async () => {
    world.machine("node-a", [ADDRESS]);
    world.says.set("node-a", AWAY);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(600_000);
    expect(world.events).toEqual([
      "csr-1: Request is not approved: could not look up its instance: 503",
      "node-a: The kubelet's request for a serving certificate is not approved: could not look up its instance: 503",
    ]);
  });

  test("at most twenty things at once, and the rest later", async () => {
    for (let index = 0; index < 60; index++) world.ask(`csr-${index}`);
    world.start();
    await world.clock.advance(1000);
    expect(world.events).toHaveLength(20);
    await world.clock.advance(300_000);
    expect(new Set(world.events).size).toBe(60);
    expect(world.events).toHaveLength(60);
  });
});

test("kubelet-serving-csr-approver approves no request with a changed byte, and survives all of them", async () => {
  const der = requestDer({ key: ecKey(), names: [dns("node-a"), ip("10.0.0.1")] });
  const changes = fc.tuple(fc.nat({ max: der.length - 1 }), fc.integer({ min: 1, max: 255 }));
  const samples = fc.sample(changes, 300);
  world.machine("node-a", [ADDRESS, OTHER]);
  world.start();
  for (const [index, [at, by]] of samples.entries()) {
    const changed = Uint8Array.from(der, (byte, place) => (place === at ? byte ^ by : byte));
    world.ask(`csr-${index}`, {}, { request: encodeRequest(changed) });
  }
  world.ask("right", {}, { request: encodeRequest(der) });
  await world.clock.advance(1000);
  expect(world.approved).toEqual(["patch certificatesigningrequests/right/approval"]);
});
