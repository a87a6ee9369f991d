import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import { alterAnswer, type Mutant, requestOf } from "../mutant.ts";

const list = methods.listInstances;

let reads = 0;

/** Faults of what pages hold. */
export const pageMutants: readonly Mutant[] = [
  {
    name: "hides-machines",
    fault: "a machine is not listed",
    fails: ["list.has-fixture", "watch.initial.equals-list"],
    intercept: alterAnswer(list, (answer) => ({
      ...answer,
      instances: answer.instances.filter(({ name }) => name !== "node-1"),
    })),
  },
  {
    name: "lists-first-page-only",
    fault: "the second machine is not listed",
    fails: ["list.has-fixture", "watch.initial.equals-list"],
    intercept: alterAnswer(list, (answer) => ({
      ...answer,
      instances: answer.instances.filter(({ name }) => name !== "node-2"),
    })),
  },
  {
    name: "lists-in-short",
    fault: "listed machines lack their type",
    fails: ["list.equals-get", "watch.initial.equals-list"],
    intercept: alterAnswer(list, (answer) => ({
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
      return isAgain ? alterAnswer(list, (answer) => ({ ...answer, instances: [] }))(request, next) : next(request);
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
    intercept: alterAnswer(list, (answer) => ({ ...answer, unreachable: ["zone-2"], complete: true })),
  },
];
