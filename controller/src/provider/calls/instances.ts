import { instanceAnswer, instanceFromProto, misaligned } from "../convert/instance.ts";
import { RPCS } from "../convert/methods.ts";
import { nodeRefBytes, nodeRefToProto } from "../convert/node.ts";
import { durationToProto } from "../convert/scalars.ts";
import type { CallOptions, Listing, ProviderReads } from "../model/client.ts";
import type { Instance, InstanceAnswer } from "../model/instance.ts";
import { type Lookup, lookUp } from "./batches.ts";
import { walkPages } from "./pages.ts";
import type { Session } from "./session.ts";

export function instanceCalls(session: Session): Pick<ProviderReads, "getInstances" | "listInstances"> {
  return {
    getInstances: (nodes, options) => {
      const maxDataAge = durationToProto(options.maxDataAgeMs);
      const lookup: Lookup<ReturnType<typeof nodeRefToProto>, Parameters<typeof instanceAnswer>[0], InstanceAnswer> = {
        session,
        group: "instances",
        message: "cloudprovider.v1.NodeRef",
        sizeBytes: nodeRefBytes,
        call: (batch) =>
          session.call(RPCS.batchGetInstances, (context) => ({ context, nodes: [...batch], maxDataAge }), options),
        convert: instanceAnswer,
        misaligned,
      };
      const refs = nodes.map((node) => nodeRefToProto(node));
      return lookUp(lookup, refs, options.signal);
    },
    listInstances: (options) => listInstances(session, options),
  };
}

async function listInstances(session: Session, options: CallOptions): Promise<Listing<Instance>> {
  const { list } = await session.capability("instances", options.signal);
  return walkPages(session.brokenList("ListInstances"), async (pageToken) => {
    const pageSize = list?.maxPageSize ?? 0;
    const answered = await session.call(RPCS.listInstances, (context) => ({ context, pageSize, pageToken }), options);
    const { response } = answered;
    return {
      ...response,
      items: response.instances.map((instance) => instanceFromProto(instance)),
      received: answered.received,
      problem: session.scopeProblem(answered, response.scopeId),
    };
  });
}
