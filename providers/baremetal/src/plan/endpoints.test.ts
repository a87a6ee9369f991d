import { expect, test } from "vitest";
import { record } from "../test/records.ts";
import { listenersOf } from "./endpoints.ts";

const dual = {
  addresses: [
    { address: "192.0.2.1", pool: "lan" },
    { address: "2001:db8::1", pool: "six" },
  ],
};

test("listenersOf() gives a listener for each address and port, whatever the order of the records", () => {
  const ports = [
    { protocol: "TCP" as const, port: 443, nodePort: 30_443 },
    { protocol: "TCP" as const, port: 80, nodePort: 30_080 },
  ];
  const records = [record({ key: "k8s-b" }), record({ ...dual, ports })];
  const names = listenersOf(records, "haproxy").map(({ name }) => name);
  expect(names).toEqual(["k8s-a-4-tcp-80", "k8s-a-4-tcp-443", "k8s-a-6-tcp-80", "k8s-a-6-tcp-443", "k8s-b-4-tcp-80"]);
  expect(listenersOf(records.toReversed(), "haproxy").map(({ name }) => name)).toEqual(names);
});

test.each([
  ["haproxy, which crosses families", "haproxy" as const, ["10.0.0.1", "fd00::2"]],
  ["nftables, which cannot", "nftables" as const, ["fd00::2"]],
])("listenersOf() finds IPv6 backends of %s", (_, forwarder, addresses) => {
  const [, ipv6] = listenersOf([record({ ...dual, forwarder })], forwarder);
  expect(ipv6?.backends.map(({ address }) => address)).toEqual(addresses);
});

const udp = { protocol: "UDP" as const, port: 53, nodePort: 30_053 };
const tcp = { protocol: "TCP" as const, port: 80, nodePort: 30_080 };
test.each([
  ["the node port", record({ ports: [tcp] }), 30_080, undefined],
  ["the health check of the Service", record({ healthCheck: { port: 32_000, path: "/healthz" } }), 32_000, "/healthz"],
  ["a TCP port beside UDP", record({ forwarder: "nftables", ports: [udp, tcp] }), 30_080, undefined],
  ["nothing where there is only UDP", record({ forwarder: "nftables", ports: [udp] }), undefined, undefined],
])("listenersOf() asks %s whether a node is healthy", (_, one, checkPort, checkPath) => {
  const [listener] = listenersOf([one], one.forwarder);
  expect(listener?.backends[0]).toMatchObject({ checkPort, checkPath });
});

test("listenersOf() leaves out what is being deleted, or is another forwarder's", () => {
  expect(listenersOf([record({ isDeleting: true }), record({ forwarder: "nftables" })], "haproxy")).toEqual([]);
});
