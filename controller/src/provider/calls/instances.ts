import { NodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type { InstanceResult } from "@cloudwire/proto/cloudprovider/v1/instance";
import { lookUp } from "./batches.ts";
import type { CallOptions, Listing, ReadOptions } from "../model/client.ts";
import { instanceAnswer, instanceFromProto } from "../convert/instance.ts";
import { durationToProto } from "../convert/scalars.ts";
import { asProviderError } from "../model/errors.ts";
import type { Instance, InstanceAnswer } from "../model/instance.ts";
import { walkPages } from "./pages.ts";
import { RPCS } from "../convert/methods.ts";
import type { Session } from "./session.ts";

/** BatchGetInstances, in as many calls as the provider's and the contract's limits need. */
export async function getInstances(
  session: Session,
  nodes: readonly NodeRef[],
  options: ReadOptions,
): Promise<readonly InstanceAnswer[]> {
  if (nodes.length === 0) return [];
  try {
    const { maxBatchSize } = await session.capability("instances", options.signal);
    return await lookUp<NodeRef, InstanceResult, InstanceAnswer>(
      {
        session,
        quotaClass: "instances",
        message: "cloudprovider.v1.NodeRef",
        maxBatchSize,
        sizeBytes: (node) => NodeRef.encode(node).finish().length,
        call: (batch) => {
          const maxDataAge = durationToProto(options.maxDataAgeMs);
          return session.call(
            RPCS.batchGetInstances,
            (context) => ({ context, nodes: [...batch], maxDataAge }),
            options,
          );
        },
        answer: (result, node, context) => trusted(session, instanceAnswer(result, node, context)),
        misaligned,
      },
      nodes,
    );
  } catch (error) {
    const failure = asProviderError(error);
    return nodes.map(() => ({ kind: "unknown", error: failure }));
  }
}

/** ListInstances, all pages. */
export async function listInstances(session: Session, options: CallOptions): Promise<Listing<Instance>> {
  const { list } = await session.capability("instances", options.signal);
  return walkPages("ListInstances", async (pageToken) => {
    const pageSize = list?.maxPageSize ?? 0;
    const answered = await session.call(RPCS.listInstances, (context) => ({ context, pageSize, pageToken }), options);
    const { response } = answered;
    return {
      ...response,
      items: response.instances.map((instance) => instanceFromProto(instance)),
      problem: session.scopeProblem(answered, response.scopeId),
    };
  });
}

function trusted(session: Session, answer: InstanceAnswer): InstanceAnswer {
  const problem = answer.kind === "absent" ? session.absenceProblem(answer) : undefined;
  return problem === undefined ? answer : { kind: "unknown", error: problem };
}

/** An instance answered for one node that carries the provider ID asked for another: results stand in the wrong order. */
function misaligned(results: readonly InstanceResult[], nodes: readonly NodeRef[]): string | undefined {
  const asked = new Set(nodes.map((node) => node.providerId));
  for (const [index, { outcome }] of results.entries()) {
    const wanted = nodes[index]?.providerId ?? "";
    if (outcome?.$case !== "instance" || wanted === "") continue;
    const { providerId } = outcome.value;
    if (providerId !== wanted && asked.has(providerId)) {
      return `result ${index} is ${providerId}, but ${wanted} was asked there`;
    }
  }
  return undefined;
}
