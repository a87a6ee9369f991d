import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { contractError } from "../../provider/model/errors.ts";

const UID = "uid-default-web";

test("service-lb asks once for what is refused for good, whatever others do to what stands", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
  cloud.fail = (call) => (call === "ensure" ? contractError("ANNOTATION_INVALID", "no") : undefined);
  const known = world.store.get("web") ?? service("web");
  world.store.put({ ...known, metadata: { ...known.metadata, annotations: { size: "huge" } } });
  await world.pass(1000);
  const kept = cloud.kept.get(UID);
  if (kept !== undefined) kept.version += 1;
  await world.pass(1_500_000);
  expect(cloud.changes).toEqual([`ensure ${UID}`, `ensure ${UID}`]);
  cloud.fail = () => undefined;
  await world.pass(1_800_000);
  expect(cloud.changes).toEqual([`ensure ${UID}`, `ensure ${UID}`, `ensure ${UID}`]);
});

test("service-lb reports immediately why another spec is rejected", async () => {
  await using world = new ServiceHarness();
  const asking = (protocol: string) =>
    service("web", {
      spec: { ports: [{ name: "", protocol, appProtocol: undefined, port: 80, targetPort: 80, nodePort: 30_080 }] },
    });
  world.store.put(asking("UDP"));
  await world.start([new LoadBalancerCloud().provider()]);
  const said = () => world.store.get("web")?.status.conditions.map(({ reason, message }) => `${reason}: ${message}`);
  expect(said()).toEqual([expect.stringMatching(/^Rejected: .*UDP/)]);
  const status = world.store.get("web")?.status ?? asking("UDP").status;
  world.store.put({ ...asking("SCTP"), status });
  await world.pass(1000);
  expect(said()).toEqual([expect.stringMatching(/^Rejected: .*SCTP/)]);
});
