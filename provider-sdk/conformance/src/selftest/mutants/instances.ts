import { type Instance, InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import type { Intercept } from "../mutant-proxy.ts";
import { type Mutant, alterResponse, requestOf } from "../mutant.ts";

const batch = methods.batchGetInstances;

/** Changes what is reported about instances, by the name of the Node in the request. */
const machines = (
  alter: (machine: Instance, node: { readonly name: string; readonly addresses: Instance["addresses"] }) => Instance,
) =>
  (async (request, next) => {
    const asked = requestOf(request, batch);
    if (asked === undefined) return next(request);
    return alterResponse(batch, (answer) => ({
      ...answer,
      results: answer.results.map((result, index) => {
        const node = asked.nodes[index];
        return result.outcome?.$case === "instance" && node !== undefined
          ? { ...result, outcome: { $case: "instance", value: alter(result.outcome.value, node) } as const }
          : result;
      }),
    }))(request, next);
  }) satisfies Intercept;

const someone: Instance = {
  providerId: "acme://m-1",
  name: "node-1",
  addresses: [],
  state: InstanceState.RUNNING,
  stateReason: "",
  labels: {},
  podCidrs: undefined,
  createTime: undefined,
  revision: "",
};

/** Finds a machine for whatever an item asks. */
const always =
  (isMeant: (name: string) => boolean): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, batch);
    if (asked === undefined) return next(request);
    return alterResponse(batch, (answer) => ({
      ...answer,
      results: answer.results.map((result, index) =>
        isMeant(asked.nodes[index]?.name ?? "")
          ? { ...result, outcome: { $case: "instance", value: someone } as const }
          : result,
      ),
    }))(request, next);
  };

/** Faults of what is reported about instances, and of what it costs. */
export const instanceFactMutants: readonly Mutant[] = [
  {
    name: "believes-nodes",
    fault: "addresses that a Node claims are reported as the cloud's",
    fails: ["inst.identity.own"],
    intercept: machines((machine, { addresses }) => ({ ...machine, addresses: [...machine.addresses, ...addresses] })),
  },
  {
    name: "no-pod-ranges",
    fault: "pod CIDRs are claimed and not reported",
    fails: ["inst.pod-cidrs", "list.equals-get"],
    intercept: machines((machine) => ({ ...machine, podCidrs: undefined })),
  },
  {
    name: "off-is-on",
    fault: "machines that are off are said to run",
    fails: ["inst.state.stopped"],
    intercept: machines((machine) => ({ ...machine, state: InstanceState.RUNNING })),
  },
  {
    name: "tombstone",
    fault: "a machine that is terminated is said to run",
    fails: ["inst.absent.terminated"],
    intercept: always((name) => name === "conformance-terminated"),
  },
  {
    name: "any-name",
    fault: "a name that no machine has is the first one's",
    fails: ["inst.absent.name"],
    intercept: always((name) => /^conformance-[0-9a-f]{8}-/.test(name)),
  },
  {
    name: "no-stats",
    fault: "the cost of a response is not reported",
    fails: ["obs.stats"],
    intercept: alterResponse(batch, (answer) => ({ ...answer, stats: undefined })),
  },
];

const list = methods.listInstances;

let reads = 0;

/** Faults of what pages hold. */
export const pageMutants: readonly Mutant[] = [
  {
    name: "hides-machines",
    fault: "a machine is not listed",
    fails: ["list.has-fixture", "watch.initial.equals-list"],
    intercept: alterResponse(list, (answer) => ({
      ...answer,
      instances: answer.instances.filter(({ name }) => name !== "node-1"),
    })),
  },
  {
    name: "lists-first-page-only",
    fault: "the second machine is not listed",
    fails: ["list.has-fixture", "watch.initial.equals-list"],
    intercept: alterResponse(list, (answer) => ({
      ...answer,
      instances: answer.instances.filter(({ name }) => name !== "node-2"),
    })),
  },
  {
    name: "lists-in-short",
    fault: "listed machines lack their type",
    fails: ["list.equals-get", "watch.initial.equals-list"],
    intercept: alterResponse(list, (answer) => ({
      ...answer,
      instances: answer.instances.map((one) => ({ ...one, instanceType: undefined })),
    })),
  },
  {
    name: "one-shot-token",
    fault: "a token that comes twice gives another page",
    fails: ["list.page.reuse"],
    only: ["list.page.reuse"],
    intercept: async (request, next) => {
      const isAgain = (requestOf(request, list)?.pageToken ?? "") !== "" && reads++ > 0;
      return isAgain ? alterResponse(list, (answer) => ({ ...answer, instances: [] }))(request, next) : next(request);
    },
  },
  {
    name: "token-any-cluster",
    fault: "a token is taken with any request",
    fails: ["list.page.changed"],
    intercept: async (request, next) => {
      const asked = requestOf(request, list);
      if (asked?.context?.cluster === undefined) return next(request);
      const { cluster } = asked.context;
      const id = cluster.id.replace("-other", "");
      const altered = { ...asked, context: { ...asked.context, cluster: { ...cluster, id } } };
      return next({ ...request, body: frame(list.requestType.encode(altered).finish()) });
    },
  },
  {
    name: "partial-complete",
    fault: "a list with a zone that could not be read is complete",
    fails: ["list.complete"],
    intercept: alterResponse(list, (answer) => ({ ...answer, unreachable: ["zone-2"], complete: true })),
  },
];
