import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import { AbsenceBasis, NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { type Instance, InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { formats } from "../../contract/field-rules.ts";
import { methods } from "../../contract/methods.ts";

type Nodes = Parameters<typeof methods.batchGetInstances.requestType.fromPartial>[0]["nodes"];

const base = { level: "R", profile: "instances", timeoutMs: 40_000 } as const;
const withFixture = { ...base, fixtures: ["instance"], requires: ["inst.get.by-id"] } as const;

const ask = async ({ caller, callContext }: CheckContext, nodes: NonNullable<Nodes>, more: object = {}) => {
  const called = await caller.call(methods.batchGetInstances, { context: callContext, nodes, ...more });
  const { response } = expectOk(called, "the batch is refused");
  const [result] = response.results;
  return { outcome: result?.outcome, response, exchange: called.exchange };
};

const fixtureNode = ({ fixtures }: CheckContext) => ({
  name: fixtures.instance?.nodeName ?? "",
  providerId: fixtures.instance?.providerId ?? "",
});

const foundAs = async (context: CheckContext, node: NonNullable<Nodes>[number]): Promise<Instance> => {
  const { outcome, exchange } = await ask(context, [node]);
  return outcome?.$case === "instance"
    ? outcome.value
    : fail({ message: "the machine is not found", got: show(outcome), exchange });
};

/** What a machine could say of itself: none of it is true. */
const lies = { address: "203.0.113.99", label: "conformance.example.com/lie" };

const telling: readonly Check[] = [
  {
    ...withFixture,
    id: "inst.identity.own",
    title: "name, addresses and labels are the cloud's word, and nothing that the request says of the Node",
    rules: ["SEC-2"],
    why: "A machine could get a certificate for the address of another by claiming it.",
    requires: ["inst.addr.stable"],
    run: async (context) => {
      const plain = await foundAs(context, fixtureNode(context));
      const claimed = await foundAs(context, {
        ...fixtureNode(context),
        name: "conformance-claimed-name",
        addresses: [{ type: NodeAddressType.INTERNAL_IP, address: lies.address }],
        providedNodeIps: [lies.address],
        labels: { [lies.label]: "x" },
      });
      const of = ({ name, addresses, labels }: Instance) => show({ name, addresses, labels });
      if (of(claimed) !== of(plain))
        fail({ message: "what the Node claims is reported as true", expected: of(plain), got: of(claimed) });
    },
  },
  {
    ...withFixture,
    id: "inst.pod-cidrs",
    title: "pod CIDRs are networks without host bits, each once, or an empty list",
    rules: ["POD-1"],
    why: "A range that is missing or wrong keeps a node's pods from being reached.",
    capability: "instances.pod_cidrs",
    run: async (context) => {
      const { podCidrs } = await foundAs(context, fixtureNode(context));
      const { cidrs } =
        podCidrs ??
        fail({ message: "pod CIDRs are not reported", expected: "pod_cidrs, empty where there are none yet" });
      expectNone(
        cidrs.flatMap((cidr, index) => [
          ...(formats.CIDR(cidr) && isNetwork(cidr) ? [] : [`${cidr} is no network`]),
          ...(cidrs.indexOf(cidr) < index ? [`${cidr} is there twice`] : []),
        ]),
        "pod CIDRs are wrong",
      );
    },
  },
  {
    ...base,
    id: "inst.state.stopped",
    title: "a machine that is off exists, and is STOPPED",
    rules: ["ABS-6"],
    why: "A false absence deletes its Node, with everything stored there.",
    capability: "instances.shutdown_state",
    fixtures: ["stoppedProviderId"],
    run: async (context) => {
      const { stoppedProviderId: providerId = "" } = context.fixtures;
      const { state } = await foundAs(context, { name: "conformance-stopped", providerId });
      if (state !== InstanceState.STOPPED)
        fail({ message: "its state is another", expected: String(InstanceState.STOPPED), got: String(state) });
    },
  },
  {
    ...base,
    id: "inst.absent.terminated",
    title: "a machine that is terminated is absent or TERMINATING, never there as before",
    rules: ["ABS-6", "ABS-1"],
    why: "The Node of a machine that is gone stays for ever, and its pods with it.",
    fixtures: ["terminatedProviderId"],
    run: async (context) => {
      const { terminatedProviderId: providerId = "" } = context.fixtures;
      const { outcome, exchange } = await ask(context, [{ name: "conformance-terminated", providerId }]);
      const absent = outcome?.$case === "absent" && outcome.value.basis !== AbsenceBasis.UNSPECIFIED;
      const going = outcome?.$case === "instance" && outcome.value.state === InstanceState.TERMINATING;
      if (!absent && !going)
        fail({ message: "it is not absent", expected: "absent with a basis", got: show(outcome), exchange });
    },
  },
  {
    ...base,
    id: "inst.absent.name",
    title: "a name that no machine has finds none",
    rules: ["BAT-3", "ABS-1"],
    why: "A Node would be tied to another's machine, for good.",
    capability: "instances.lookup_by_name",
    run: async (context) => {
      const name = `conformance-${randomUUID()}`;
      const { outcome, exchange } = await ask(context, [{ name }]);
      if (outcome?.$case !== "absent" && outcome?.$case !== "unknown")
        fail({ message: `${name} is an instance`, expected: "absent or unknown", got: show(outcome), exchange });
    },
  },
];

/** True for a range without host bits. */
const isNetwork = (cidr: string): boolean => {
  const [address = "", length = ""] = cidr.split("/");
  if (isIP(address) !== 4) return address.endsWith("::") || length === "128";
  const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return number % 2 ** (32 - Number(length)) === 0;
};

const costing: readonly Check[] = [
  {
    ...withFixture,
    id: "obs.stats",
    title: "stats contain the cloud requests of a call, with consistent numbers",
    rules: ["OBS-2"],
    why: "The controller keeps to the cloud's limits by them.",
    run: async (context) => {
      const { response, exchange } = await ask(context, [fixtureNode(context)], { maxDataAge: {} });
      const { cloudCalls, cloudMutations, cloudRetries } =
        response.stats ?? fail({ message: "there are none", expected: "stats", exchange });
      expectNone(
        [
          ...(cloudCalls === 0 ? ["data of now without a call of the cloud"] : []),
          ...(cloudMutations > 0 ? ["a read that changes the cloud"] : []),
          ...(cloudRetries >= Math.max(1, cloudCalls) ? ["as many repetitions as calls"] : []),
        ],
        "the numbers cannot be",
        { exchange, expected: "at least one call, no mutation, fewer repetitions than calls" },
      );
    },
  },
  {
    ...withFixture,
    id: "inst.batch.bulk",
    advisory: true,
    exclusive: true,
    title: "a full batch costs far fewer calls of the cloud than it has items",
    rules: ["BAT-5"],
    why: "A cluster of thousands of nodes uses up the account's calls.",
    run: async (context) => {
      const count = context.info.capabilities?.instances?.maxBatchSize ?? 0;
      const { providerId } = fixtureNode(context);
      const { absentProviderId } = context.fixtures;
      if (count < 10 || absentProviderId === undefined) throw new CheckSkipped("there are too few objects for a batch");
      // Equal ones could be asked for once.
      const nodes = Array.from({ length: count }, (_, index) => ({
        name: `n-${index}`,
        providerId: index % 2 === 0 ? providerId : `${absentProviderId.slice(0, -4)}${String(index).padStart(4, "0")}`,
      }));
      const { response, exchange } = await ask(context, nodes, { maxDataAge: {} });
      const { cloudCalls = 0 } = response.stats ?? {};
      if (cloudCalls >= count / 5)
        fail({
          message: "it asks one by one; does the cloud take several ids in a request",
          expected: `below ${count / 5}`,
          got: String(cloudCalls),
          exchange,
        });
    },
  },
];

/** What is reported about instances, and what it costs. */
export const instanceFactChecks: readonly Check[] = [...telling, ...costing];
