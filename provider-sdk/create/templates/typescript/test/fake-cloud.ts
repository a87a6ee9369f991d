import { FakeCloudError, startFakeCloud } from "@cloudwire/provider-sdk/testing";
import type { Balancer, BalancerSpec, Machine } from "../src/cloud.ts";

/** The token that the fake cloud takes. */
export const token = "test-token";

/** A machine with everything in its place. */
export const machine = (id: string, facts: Partial<Machine> = {}): Machine => ({
  id,
  name: `node-${id}`,
  type: "small",
  zone: "north-a",
  region: "north",
  privateIps: ["10.0.0.1"],
  publicIps: [],
  power: "on",
  ...facts,
});

/** Your cloud, as far as the provider calls it, in memory; it speaks HTTP, so that the real client is tested. */
export const startAcmeCloud = async () => {
  const cloud = await startFakeCloud();
  const machines = cloud.table<Machine>();
  const balancers = cloud.table<Balancer>();
  // What load balancers get from now on; {} makes them wait for one.
  const address: { ip?: string } = { ip: "192.0.2.1" };
  const authorized = (headers: Readonly<Record<string, string | undefined>>) => {
    if (headers.authorization !== `Bearer ${token}`) throw new FakeCloudError(401);
  };
  cloud.serve({
    "GET /account": ({ headers }) => {
      authorized(headers);
      return { body: { id: "account-42" } };
    },
    "GET /machines": ({ headers, query }) => {
      authorized(headers);
      if (query.ids === undefined) {
        const { items, nextToken } = machines.page({ size: 100, token: query.page });
        return { body: { machines: items, nextPage: nextToken } };
      }
      const ids = query.ids.split(",");
      const names = (query.names ?? "").split(",");
      const found = machines.page().items.filter(({ id, name }) => ids.includes(id) || names.includes(name));
      return { body: { machines: found } };
    },
    "GET /load-balancers": ({ headers, query }) => {
      authorized(headers);
      const [key = "", value] = query.tag?.split("=") ?? [];
      const fits = ({ name, tags }: Balancer) => (query.name === undefined ? tags[key] === value : name === query.name);
      return { body: { loadBalancers: balancers.page().items.filter(fits) } };
    },
    "PUT /load-balancers/:name": ({ headers, params: { name = "" }, body }) => {
      authorized(headers);
      const asked = body as BalancerSpec;
      const spec = { ...asked, targetIds: asked.targetIds.filter((id) => machines.get(id)) };
      return { body: balancers.put(name, { id: `lb-${name}`, name, ...address, ...spec }) };
    },
    "DELETE /load-balancers/:name": ({ headers, params: { name = "" } }) => {
      authorized(headers);
      if (!balancers.delete(name)) throw new FakeCloudError(404);
      return {};
    },
  });
  return { ...cloud, machines, balancers, address };
};
