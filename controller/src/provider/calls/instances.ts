import { lookUp } from "./batches.ts";
import type { CallOptions, Listing, ProviderReads, ReadOptions } from "../model/client.ts";
import { instanceAnswer, instanceFromProto, misaligned } from "../convert/instance.ts";
import { nodeRefBytes, nodeRefToProto } from "../convert/node.ts";
import { durationToProto } from "../convert/scalars.ts";
import { asProviderError } from "../model/errors.ts";
import type { Instance, InstanceResult, NodeRef } from "../model/instance.ts";
import { walkPages } from "./pages.ts";
import { RPCS } from "../convert/methods.ts";
import type { Session } from "./session.ts";

type WireRef = ReturnType<typeof nodeRefToProto>;

export function instanceCalls(session: Session): Pick<ProviderReads, "getInstances" | "listInstances"> {
  return {
    getInstances: (nodes, options) => getInstances(session, nodes, options),
    listInstances: (options) => listInstances(session, options),
  };
}

/** BatchGetInstances, in as many calls as the provider's and the contract's limits need. */
async function getInstances(
  session: Session,
  nodes: readonly NodeRef[],
  options: ReadOptions,
): Promise<readonly InstanceResult[]> {
  if (nodes.length === 0) return [];
  try {
    const { maxBatchSize } = await session.capability("instances", options.signal);
    return await lookUp<WireRef, Parameters<typeof instanceAnswer>[0], InstanceResult>(
      {
        session,
        quotaClass: "instances",
        message: "cloudprovider.v1.NodeRef",
        maxBatchSize,
        sizeBytes: nodeRefBytes,
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
      nodes.map((node) => nodeRefToProto(node)),
    );
  } catch (error) {
    const failure = asProviderError(error);
    return nodes.map(() => ({ kind: "unknown", error: failure }));
  }
}

/** ListInstances, all pages. */
async function listInstances(session: Session, options: CallOptions): Promise<Listing<Instance>> {
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

function trusted(session: Session, answer: InstanceResult): InstanceResult {
  const problem = answer.kind === "absent" ? session.absenceProblem(answer) : undefined;
  return problem === undefined ? answer : { kind: "unknown", error: problem };
}
