import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dns, ip } from "../../../test/support/node/certificate-requests.ts";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { KubeletServingHarness } from "../../../test/support/node/kubelet-serving-harness.ts";

let world: KubeletServingHarness;
beforeEach(() => {
  world = new KubeletServingHarness();
});
afterEach(() => world.stop());

/** The cloud reports the address for the machine, and its kubelet requests it. */
async function request(address: string): Promise<void> {
  world.machine("node-a", [{ type: "InternalIP", address }]);
  world.ask("csr-1", { names: [dns("node-a"), ip(address)] });
  world.start();
  await world.clock.advance(20_000);
}

describe("kubelet-serving-csr-approver approves no certificate, whatever the cloud reports, for", () => {
  test.each(["10.96.0.1", "192.0.2.10"])("%s of a Service or an API server (case N-6)", async (address) => {
    await request(address);
    expect(world.approved).toEqual([]);
    expect(world.events).toContain(
      `node-a: The kubelet's request for a serving certificate is not approved: these are addresses of Services or API servers: "${address}"`,
    );
  });

  test("the address at which the API server is called, such as a load balancer's (case N-6)", async () => {
    world.apiServerHost = "10.0.0.100";
    await request("10.0.0.100");
    expect(world.approved).toEqual([]);
  });

  test.each(["127.0.0.1", "169.254.169.254", "224.0.0.1", "0.0.0.0"])("%s (case N-6)", async (address) => {
    await request(address);
    expect(world.approved).toEqual([]);
    expect(world.events).toEqual([
      `csr-1: Request is not approved: these are no addresses of one instance: "${address}"`,
    ]);
  });

  test("any address while those of the cluster cannot be read, and then approves it (case N-6)", async () => {
    world.clusterFailure = apiError("forbidden");
    await request("10.0.0.1");
    expect(world.approved).toEqual([]);
    expect(world.events.join()).toContain("could not read the addresses of the cluster");
    world.clusterFailure = undefined;
    await world.clock.advance(60_000);
    expect(world.approved).toEqual(["patch certificatesigningrequests/csr-1/approval"]);
  });
});
