import { isIP } from "node:net";
import { AbsenceBasis, NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { type Instance, type InstanceResult, InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import { hasPrefix, isSameInstance } from "@cloudwire/proto/provider-ids";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { InstanceFixture } from "../../suite/fixtures.ts";
import type { Exchange } from "../../endpoint/exchange.ts";
import { ruleProblems } from "../../contract/field-rules.ts";
import { methods } from "../../contract/methods.ts";
import { labelProblems } from "./labels.ts";

interface Ref {
  readonly name: string;
  readonly providerId?: string;
}

const base = { level: "R", profile: "instances", timeoutMs: 40_000 } as const;
const withFixture = { ...base, fixtures: ["instance"] } as const;

/** What the controller keeps for itself among the labels of a Node. */
const reserved = /(?:^|\.)(?:kubernetes|k8s)\.io\//;

const ask = async ({ caller, callContext }: CheckContext, nodes: readonly Ref[], more: object = {}) => {
  const called = await caller.call(methods.batchGetInstances, { context: callContext, nodes: [...nodes], ...more });
  const { response } = expectOk(called, "the batch is refused");
  if (response.results.length !== nodes.length)
    fail({
      message: "results do not align with the request",
      expected: `${nodes.length} results`,
      got: String(response.results.length),
      exchange: called.exchange,
    });
  return { results: response.results, response, exchange: called.exchange };
};

/** What an item came to, in a few words. */
const word = ({ outcome }: InstanceResult): string => {
  switch (outcome?.$case) {
    case "instance":
      return `instance ${outcome.value.providerId}`;
    case "absent":
      return `absent, basis ${outcome.value.basis}`;
    case "unknown":
      return `unknown ${outcome.value.reason}: ${outcome.value.message}`;
    case "notOwned":
      return "not_owned";
    case undefined:
      return "no outcome";
  }
  return outcome satisfies never;
};

const found = (result: InstanceResult | undefined, exchange: Exchange, message: string): Instance =>
  result?.outcome?.$case === "instance"
    ? result.outcome.value
    : fail({ message, expected: "instance", got: result === undefined ? "nothing" : word(result), exchange });

/** The configured machine; the registry makes sure that there is one. */
const fixtureOf = ({ fixtures }: CheckContext): InstanceFixture =>
  fixtures.instance ?? fail({ message: "the configuration has no instance" });

const fixtureFound = async (context: CheckContext): Promise<{ machine: Instance; exchange: Exchange }> => {
  const { providerId, nodeName: name } = fixtureOf(context);
  const { results, exchange } = await ask(context, [{ name, providerId }]);
  return { machine: found(results[0], exchange, `${providerId} is not found`), exchange };
};

const same = (what: string, expected: string, got: string, exchange: Exchange): void => {
  if (got !== expected) fail({ message: `${what} is another`, expected, got, exchange });
};

const sameInstance = (expected: string, { providerId: got }: Instance, exchange: Exchange): void => {
  if (!isSameInstance(got, expected))
    fail({ message: "the provider ID names another machine", expected, got, exchange });
};

/** A provider ID of a cloud that does not exist. */
const foreign = "conformance-other-cloud://machine-1";

const addressProblems = ({ addresses }: Instance): readonly string[] =>
  addresses.flatMap(({ type, address }, index) => {
    const isIp = type === NodeAddressType.INTERNAL_IP || type === NodeAddressType.EXTERNAL_IP;
    const twice = addresses.findIndex((other) => other.type === type && other.address === address) < index;
    return [
      ...(type === NodeAddressType.UNSPECIFIED ? [`${address} has no type`] : []),
      ...(isIp && isIP(address) === 0 ? [`${address} is no IP address`] : []),
      ...(twice ? [`${address} is there twice`] : []),
    ];
  });

/** Machines: found, named rightly, and never said to be gone when they may not be. */
export const instanceChecks: readonly Check[] = [
  {
    ...withFixture,
    id: "inst.get.by-id",
    title: "the machine is found by its provider ID",
    rules: ["BAT-3"],
    why: "Nothing works for a Node whose machine is not found.",
    run: async (context) => void (await fixtureFound(context)),
  },
  {
    ...withFixture,
    id: "inst.get.by-name",
    title: "the machine is found by its name where there is no provider ID",
    rules: ["BAT-3"],
    why: "A new Node has none yet.",
    capability: "instances.lookup_by_name",
    run: async (context) => {
      const { nodeName: name, providerId } = fixtureOf(context);
      const { results, exchange } = await ask(context, [{ name }]);
      sameInstance(providerId, found(results[0], exchange, `${name} is not found`), exchange);
    },
  },
  {
    ...withFixture,
    id: "inst.get.id-wins",
    title: "the provider ID alone decides, whatever the name says",
    rules: ["BAT-3"],
    why: "Nodes are renamed, and names are reused.",
    run: async (context) => {
      const { providerId } = fixtureOf(context);
      const { results, exchange } = await ask(context, [{ name: "conformance-wrong-name", providerId }]);
      sameInstance(providerId, found(results[0], exchange, `${providerId} is not found`), exchange);
    },
  },
  {
    ...withFixture,
    id: "inst.get.expected",
    title: "type, zone, region and addresses are those of the configuration",
    rules: ["SEC-2", "LST-5"],
    why: "They become labels that decide where pods run.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { type, zone, region, addresses } = fixtureOf(context);
      const { machine, exchange } = await fixtureFound(context);
      if (type !== undefined) same("the type", type, machine.instanceType ?? "", exchange);
      if (zone !== undefined) same("the zone", zone, machine.zone ?? "", exchange);
      if (region !== undefined) same("the region", region, machine.region ?? "", exchange);
      const got = machine.addresses.map(({ address }) => address);
      const missing = (addresses ?? []).filter((address) => !got.includes(address));
      if (missing.length > 0)
        fail({ message: "addresses are missing", expected: show(addresses), got: show(got), exchange });
    },
  },
  {
    ...withFixture,
    id: "inst.get.fields",
    title: "the machine has a name and an address inside the cloud, each field within its limits",
    rules: ["LIM-1", "SEC-2"],
    why: "A Node without addresses cannot be reached by the control plane.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { machine, exchange } = await fixtureFound(context);
      const inner: readonly number[] = [NodeAddressType.INTERNAL_IP, NodeAddressType.HOSTNAME];
      const problems = ruleProblems("cloudprovider.v1.Instance", machine);
      const none = machine.addresses.some(({ type }) => inner.includes(type))
        ? []
        : ["no internal address or hostname"];
      expectNone([...problems, ...none], "the machine is not whole", { exchange });
    },
  },
  {
    ...withFixture,
    id: "inst.id.roundtrip",
    title: "the provider ID in the result names the instance of the requested one, and has a declared prefix",
    rules: ["INF-4", "BAT-3", "BAT-6"],
    why: "spec.providerID cannot be changed once it is written.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { machine, exchange } = await fixtureFound(context);
      sameInstance(fixtureOf(context).providerId, machine, exchange);
      if (!context.info.providerIdPrefixes.some((prefix) => hasPrefix(machine.providerId, prefix)))
        fail({ message: "the provider ID has no declared prefix", got: machine.providerId, exchange });
    },
  },
  {
    ...withFixture,
    id: "inst.addr.valid",
    title: "addresses are valid, have a type and are there once",
    rules: ["SEC-2"],
    why: "A range instead of an address, and the Node is refused by the API server.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { machine, exchange } = await fixtureFound(context);
      expectNone(addressProblems(machine), "addresses are wrong", { exchange, got: show(machine.addresses) });
    },
  },
  {
    ...withFixture,
    id: "inst.addr.stable",
    title: "ten answers give the addresses in one order",
    rules: ["LST-5"],
    why: "Each other order is a write to the Node, for ever.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const first = await fixtureFound(context);
      for (let round = 1; round < 10; round++) {
        const { machine, exchange } = await fixtureFound(context);
        same("the order", show(first.machine.addresses), show(machine.addresses), exchange);
      }
    },
  },
  {
    ...withFixture,
    id: "inst.labels.valid",
    title: "labels are valid and none is the controller's",
    rules: ["SHAPE-4", "LIM-1"],
    why: "One label that Kubernetes refuses, and the Node is never initialized.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { machine, exchange } = await fixtureFound(context);
      const taken = Object.keys(machine.labels).filter((key) => reserved.test(key));
      const problems = [...labelProblems(machine.labels), ...taken.map((key) => `${key} belongs to Kubernetes`)];
      expectNone(problems, "labels are wrong", { exchange });
    },
  },
  {
    ...withFixture,
    id: "inst.state.running",
    title: "the machine, which runs, is RUNNING",
    rules: ["ABS-6"],
    why: "Anything else taints the Node.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { machine, exchange } = await fixtureFound(context);
      same("the state", String(InstanceState.RUNNING), String(machine.state), exchange);
    },
  },
  {
    ...base,
    id: "inst.absent.never",
    title: "a machine that never existed is absent, with a basis and the time of reading",
    rules: ["ABS-1", "ABS-7"],
    why: "Without a basis the controller takes it for unknown, and Nodes of machines that went stay for ever.",
    fixtures: ["absentProviderId"],
    run: async (context) => {
      const providerId = context.fixtures.absentProviderId ?? "";
      const { results, exchange } = await ask(context, [{ name: "conformance-absent", providerId }]);
      const outcome = results[0]?.outcome;
      const { basis, observeTime } =
        outcome?.$case === "absent"
          ? outcome.value
          : fail({ message: `${providerId} is not absent`, got: show(outcome), exchange });
      if (basis === AbsenceBasis.UNSPECIFIED || observeTime === undefined)
        fail({
          message: "the absence rests on nothing",
          expected: "basis and observe_time",
          got: show(outcome),
          exchange,
        });
    },
  },
  {
    ...base,
    level: "S",
    id: "inst.absent.foreign",
    title: "a provider ID of another cloud is not_owned, never absent",
    rules: ["ABS-3"],
    why: "A false absence of another cloud's instances deletes their Nodes.",
    run: async (context) => {
      const { results, exchange } = await ask(context, [{ name: "conformance-foreign", providerId: foreign }]);
      const [result] = results;
      if (result?.outcome?.$case !== "notOwned")
        fail({
          message: `${foreign} belongs to another provider`,
          expected: "not_owned",
          got: show(result?.outcome),
          exchange,
        });
    },
  },
  {
    ...base,
    level: "S",
    id: "inst.absent.malformed",
    title: "an own prefix without an id behind it is unknown PROVIDER_ID_MALFORMED, never absent",
    rules: ["ABS-3"],
    why: "An id that cannot be read proves nothing about any machine.",
    run: async (context) => {
      const [prefix = ""] = context.info.providerIdPrefixes;
      const ids = [prefix, ...context.fixtures.malformedIds];
      const { results, exchange } = await ask(
        context,
        ids.map((providerId) => ({ name: "conformance-malformed", providerId })),
      );
      const problems = results.flatMap((result, index) =>
        result.outcome?.$case === "unknown" && result.outcome.value.reason === "PROVIDER_ID_MALFORMED"
          ? []
          : [`${ids[index]}: ${word(result)}`],
      );
      expectNone(problems, "malformed ids are not reported", { exchange, expected: "unknown PROVIDER_ID_MALFORMED" });
    },
  },
  {
    ...base,
    id: "inst.scope.echo",
    title: "the answer carries the scope of the handshake",
    rules: ["SHAPE-7"],
    why: "The scope that was really read is what the controller believes.",
    run: async (context) => {
      const { response, exchange } = await ask(context, [{ name: "conformance-scope", providerId: foreign }]);
      same("the scope", context.info.scopeId, response.scopeId, exchange);
    },
  },
  {
    ...withFixture,
    id: "inst.batch.mixed",
    title: "good, foreign and malformed in one call: three outcomes in the order of the request",
    rules: ["BAT-1"],
    why: "One bad Node must not keep hundreds from being looked at.",
    requires: ["inst.get.by-id", "inst.absent.foreign", "inst.absent.malformed"],
    run: async (context) => {
      const { providerId, nodeName: name } = fixtureOf(context);
      const malformed = context.info.providerIdPrefixes[0] ?? "";
      const refs = [foreign, providerId, malformed, providerId].map((id) => ({ name, providerId: id }));
      const { results, exchange } = await ask(context, refs);
      const got = results.map(({ outcome }) => outcome?.$case ?? "nothing").join(", ");
      same("the order of outcomes", "notOwned, instance, unknown, instance", got, exchange);
    },
  },
  {
    ...withFixture,
    id: "inst.batch.dup",
    title: "a machine asked for twice is answered twice",
    rules: ["BAT-1"],
    why: "Results are matched by their place.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { providerId, nodeName: name } = fixtureOf(context);
      const { results, exchange } = await ask(context, [
        { name, providerId },
        { name, providerId },
      ]);
      same("the outcome", `${word(results[0] ?? nothing)} twice`, `${word(results[1] ?? nothing)} twice`, exchange);
    },
  },
  {
    ...withFixture,
    id: "inst.age.honored",
    title: "max_data_age of 0 brings data that is no older than a second",
    rules: ["BAT-4"],
    why: "The controller confirms an absence that way: a cache would confirm itself.",
    requires: ["inst.get.by-id"],
    run: async (context) => {
      const { providerId, nodeName: name } = fixtureOf(context);
      const startMs = Date.now();
      const { results, response, exchange } = await ask(context, [{ name, providerId }], { maxDataAge: {} });
      const readMs = results[0]?.readTime === undefined ? undefined : results[0].readTime.getTime();
      const age = response.stats?.dataAge;
      const ageMs = readMs === undefined ? Number(age?.seconds ?? 0n) * 1_000 : startMs - readMs;
      if (ageMs > 1_000) fail({ message: "the data is old", expected: "at most 1 s", got: `${ageMs} ms`, exchange });
    },
  },
];

const nothing: InstanceResult = { outcome: undefined, readTime: undefined };
