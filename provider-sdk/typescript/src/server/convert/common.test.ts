import { inspect } from "node:util";
import { RuleChecker } from "@cloudwire/proto/rule-checker";
import { expect, test } from "vitest";
import { pending } from "../../results/results.ts";
import { deletion } from "../methods/long-work.ts";
import { toWireAddresses, toWireCondition, toWireDiagnostic, toWireOperation, toWirePlannedChange } from "./common.ts";
import { toWireLoadBalancer } from "./load-balancer.ts";

/** As of a cloud: longer than any text of the contract, with a terminal's escape sequence in it. */
const long = `\u001b[31mallow ${Array.from({ length: 400 }, (_, index) => `tcp|80|80|10.${index % 256}.0.0/16`).join(", ")}`;

const service = { namespace: "shop", name: "web", uid: "u" };

test.each([
  { of: "Operation", wire: toWireOperation({ stage: long, message: long }) },
  { of: "Diagnostic", wire: toWireDiagnostic({ reason: "Any", summary: long, detail: long }) },
  {
    of: "PlannedChange",
    wire: toWirePlannedChange({ action: "update", resourceType: "security group", summary: long }),
  },
  { of: "Condition", wire: toWireCondition({ type: "Ready", status: true, message: long }) },
  { of: "DeleteLoadBalancerResponse", wire: deletion(pending("lb", { message: long, remaining: [long, long] })) },
  {
    of: "LoadBalancer",
    wire: toWireLoadBalancer(
      { id: "lb", service, unregisteredNodes: [{ name: "n", reason: "Any", message: long }] },
      {},
    ),
  },
])("texts of $of for people are cut to the limits of the contract, which the controller enforces (case A-5)", (row) => {
  const { of, wire } = row;
  expect(new RuleChecker().check(`cloudprovider.v1.${of}`, wire, { latestMs: Date.now() })).toEqual([]);
  expect(inspect(wire, { depth: null })).toContain("\ufffd[31mallow tcp|80|80|10.0.0.0/16, ");
});

test.each([{ name: "Worker 1" }, { name: "büro/1" }])(
  "the name $name of a machine, which is no host name, does not make an instance invalid (case A-5)",
  ({ name }) => {
    const addresses = toWireAddresses([
      { type: "InternalIP", address: "10.0.0.7" },
      { type: "Hostname", address: name },
      { type: "InternalDNS", address: "Web_1.example.com" },
    ]);
    const wire = { providerId: "acme://1", name, addresses };
    const latestMs = Date.now();
    expect(new RuleChecker().check("cloudprovider.v1.Instance", wire, { latestMs })).toEqual([]);
    expect(addresses.map(({ address }) => address)).toEqual(["10.0.0.7", "Web_1.example.com"]);
  },
);

test("tags of others on a load balancer beyond the limits of the contract do not make it invalid (case A-5)", () => {
  const others = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`cost-${index}`, "x".repeat(200)]));
  const own = { "cloudwire.dev/service-uid": "u" };
  const wire = toWireLoadBalancer({ id: "lb", service, tags: { ...others, ...own } }, {});
  expect(new RuleChecker().check("cloudprovider.v1.LoadBalancer", wire)).toEqual([]);
  expect(wire.tags).toMatchObject(own);
});
