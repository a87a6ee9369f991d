import { randomUUID } from "node:crypto";
import { AbsenceBasis } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Check } from "../../suite/check.ts";
import { expectError, expectOk, fail, show } from "../../suite/expect.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { property } from "../../contract/field-rules.ts";
import { sampleRequest } from "../../contract/samples.ts";

const balancer = { level: "R", profile: "loadbalancer", timeoutMs: 70_000 } as const;

/** What is said of things that were never made: these need no fixture and change nothing. */
export const nothingChecks: readonly Check[] = [
  {
    ...balancer,
    id: "lb.get.absent",
    title: "a load balancer that was never made is absent, with a basis, and no error",
    rules: ["LB-11", "ABS-1"],
    why: "An error would be asked again and again; the controller wants to know that it may create.",
    run: async (context) => {
      // Of its own: of a Service that is just being deleted a provider may say that something goes on.
      const service = { namespace: "conformance", name: "never-made", uid: randomUUID() };
      const request = { context: context.callContext, service };
      const called = await context.caller.call(methods.getLoadBalancer, request);
      const outcome = property(expectOk(called, "the question fails").response, "outcome");
      const absence = property(outcome, "$case") === "absent" ? property(outcome, "value") : undefined;
      if (absence === undefined || property(absence, "basis") === AbsenceBasis.UNSPECIFIED)
        fail({
          message: "it is not absent",
          expected: "absent with a basis",
          got: show(outcome),
          exchange: called.exchange,
        });
    },
  },
  {
    ...balancer,
    id: "lb.delete.never",
    title: "the deletion of a load balancer that was never made is done",
    rules: ["LB-10", "SHAPE-3"],
    why: "The finalizer of the Service stays until it is: the namespace hangs.",
    run: async (context) => {
      const request = sampleRequest("DeleteLoadBalancer", context);
      const called = await context.caller.call(methodsByName.DeleteLoadBalancer, request);
      const { response } = expectOk(called, "the deletion fails");
      if (property(response, "done") !== true)
        fail({ message: "it is not done", expected: "done", got: show(response), exchange: called.exchange });
    },
  },
  {
    ...balancer,
    id: "lb.nodes.missing-lb",
    title: "nodes for a load balancer that was never made are LOAD_BALANCER_NOT_FOUND",
    rules: ["LB-8"],
    why: "The controller then makes it whole; a provider that makes half of one leaves it without ports.",
    capability: "load_balancers.update_nodes",
    run: async (context) => {
      const request = sampleRequest("UpdateLoadBalancerNodes", context);
      const called = await context.caller.call(methodsByName.UpdateLoadBalancerNodes, request);
      expectError(called, { codes: [5], reasons: ["LOAD_BALANCER_NOT_FOUND"] }, "nodes of nothing");
    },
  },
  {
    level: "R",
    profile: "routes",
    timeoutMs: 70_000,
    id: "route.delete.absent",
    title: "the deletion of a route that does not exist is success",
    rules: ["RTE-2", "SHAPE-3"],
    why: "Deletions are retried, and another actor may have deleted the object first.",
    run: async (context) => {
      const request = methods.batchDeleteRoutes.requestType.fromPartial(sampleRequest("BatchDeleteRoutes", context));
      const called = await context.caller.call(methods.batchDeleteRoutes, request);
      const [result] = expectOk(called, "the batch fails").response.results;
      if (result === undefined || result.outcome?.$case === "error")
        fail({ message: "the item fails", expected: "success", got: show(result), exchange: called.exchange });
    },
  },
];
