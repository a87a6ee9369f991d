import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ensureRequest, serviceRef, startTestProvider, type TestProvider } from "@cloudwire/provider-sdk/testing";
import { Cloud } from "../src/cloud.ts";
import { defineProvider, idPrefix } from "../src/provider.ts";
import { machine, startAcmeCloud, token } from "./fake-cloud.ts";

describe("provider", () => {
  let cloud: Awaited<ReturnType<typeof startAcmeCloud>>;
  let provider: TestProvider;

  beforeEach(async () => {
    cloud = await startAcmeCloud();
    provider = await startTestProvider(defineProvider(new Cloud(cloud.url, () => token), "1.0.0"));
  });

  afterEach(async () => {
    await provider.close();
    await cloud.close();
  });

  const lookUp = async (...nodes: { name: string; providerId?: string }[]) => {
    const { results } = await provider.client.batchGetInstances({ nodes });
    return results.map(({ outcome }) => outcome);
  };

  describe("batchGetInstances", () => {
    it("finds machines by id and by name with one request", async () => {
      cloud.machines.put("i-1", machine("i-1"));
      cloud.machines.put("i-2", machine("i-2", { name: "web", power: "off" }));
      const before = cloud.requests.length;
      const [byId, byName] = await lookUp({ name: "any", providerId: `${idPrefix}i-1` }, { name: "web" });
      assert.equal(cloud.requests.length - before, 1);
      assert.equal(byId?.$case === "instance" && byId.value.providerId, `${idPrefix}i-1`);
      assert.equal(byName?.$case === "instance" && byName.value.providerId, `${idPrefix}i-2`);
    });

    it("says absent for a machine that the cloud does not have", async () => {
      const [outcome] = await lookUp({ name: "gone", providerId: `${idPrefix}i-9` });
      assert.equal(outcome?.$case, "absent");
    });

    // A Node is deleted on the strength of "absent": no failure may ever look like it.
    for (const status of [401, 403, 404, 429, 500]) {
      it(`never says absent when the cloud answers ${status}`, async () => {
        cloud.inject({ kind: "status", status }, { path: "/machines" });
        const outcomes = await lookUp({ name: "node-1", providerId: `${idPrefix}i-1` }).catch(() => []);
        assert.ok(outcomes.every((outcome) => outcome?.$case !== "absent"));
      });
    }

    it("does not guess which of two machines of one name is meant", async () => {
      cloud.machines.put("i-1", machine("i-1", { name: "web" }));
      cloud.machines.put("i-2", machine("i-2", { name: "web" }));
      const [outcome] = await lookUp({ name: "web" });
      assert.equal(outcome?.$case, "unknown");
    });
  });

  /** The load balancer as GetLoadBalancer and ListLoadBalancers return it. */
  const readAll = async () => {
    const got = await provider.client.getLoadBalancer({ service: serviceRef("default/web") });
    const { loadBalancers } = await provider.client.listLoadBalancers();
    assert.equal(loadBalancers.length, 1);
    return [got.outcome?.$case === "loadBalancer" ? got.outcome.value : undefined, loadBalancers[0]];
  };

  it("never says that a load balancer is absent when the cloud fails", async () => {
    cloud.inject({ kind: "status", status: 404 }, { path: "/load-balancers" });
    await assert.rejects(provider.client.getLoadBalancer({ service: serviceRef("default/web") }));
  });

  describe("ensureLoadBalancer", () => {
    it("leaves one load balancer when it is called twice", async () => {
      cloud.machines.put("i-1", machine("i-1"));
      const request = ensureRequest({ ports: [80], nodes: { "node-1": `${idPrefix}i-1` } });
      await provider.client.ensureLoadBalancer(request);
      const { loadBalancer } = await provider.client.ensureLoadBalancer(request);
      const targets = [...cloud.balancers.contents().values()].map(({ targetIds }) => targetIds);
      assert.deepEqual(targets, [["i-1"]]);
      assert.equal(loadBalancer?.ingress?.items[0]?.ip, "192.0.2.1");
    });

    it("reports a node that has no instance, and serves the others", async () => {
      cloud.machines.put("i-1", machine("i-1"));
      const nodes = { "node-1": `${idPrefix}i-1`, gone: `${idPrefix}i-9` };
      const { loadBalancer, diagnostics } = await provider.client.ensureLoadBalancer(ensureRequest({ nodes }));
      assert.equal(loadBalancer?.registeredNodes, 1);
      assert.deepEqual(
        diagnostics.map(({ reason, summary }) => [reason, summary.endsWith(": gone")]),
        [["TargetsNotFound", true]],
      );
    });

    it("says of one that it is worked on until it has an address", async () => {
      delete cloud.address.ip;
      const { loadBalancer } = await provider.client.ensureLoadBalancer(ensureRequest());
      const states = [loadBalancer, ...(await readAll())].map((answer) => [
        answer?.operation === undefined,
        answer?.ingress,
      ]);
      assert.deepEqual(states, Array(3).fill([false, undefined]));
    });

    // A controller that was restarted compares them with its spec, and changes nothing.
    it("keeps the fingerprints of the spec", async () => {
      const request = ensureRequest();
      await provider.client.ensureLoadBalancer(request);
      const kept = (await readAll()).map((answer) => [answer?.specFingerprint, answer?.nodesFingerprint]);
      assert.deepEqual(kept, Array(2).fill([request.specFingerprint, request.nodes?.fingerprint]));
    });

    it("leaves another cluster's load balancer alone", async () => {
      await provider.client.ensureLoadBalancer(ensureRequest());
      const [balancer] = cloud.balancers.contents().values();
      assert.ok(balancer);
      const foreign = cloud.balancers.put(balancer.name, { ...balancer, tags: { "cloudwire-cluster": "another" } });
      await assert.rejects(provider.client.ensureLoadBalancer(ensureRequest({ ports: [443] })), {
        reason: "OWNED_BY_ANOTHER_CLUSTER",
      });
      await assert.rejects(provider.client.deleteLoadBalancer({ service: serviceRef("default/web") }), {
        reason: "OWNED_BY_ANOTHER_CLUSTER",
      });
      assert.deepEqual((await provider.client.listLoadBalancers()).loadBalancers, []);
      assert.deepEqual([...cloud.balancers.contents().values()], [foreign]);
    });
  });

  describe("deleteLoadBalancer", () => {
    it("removes it, and finds nothing to do afterwards", async () => {
      await provider.client.ensureLoadBalancer(ensureRequest());
      await provider.client.deleteLoadBalancer({ service: serviceRef("default/web") });
      await provider.client.deleteLoadBalancer({ service: serviceRef("default/web") });
      assert.equal(cloud.balancers.contents().size, 0);
    });
  });
});
