import type { CertificateSigningRequest } from "../../api/certificate-signing-request.ts";
import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { readCertificateRequest } from "./certificate-request.ts";
import type { ClusterAddressReader } from "./cluster-addresses.ts";
import type { Input, Target } from "./plan.ts";
import { claimOf } from "./plan/claim.ts";
import { isOld, isPending } from "./predicates.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

export interface GatherDependencies {
  readonly requests: Lister<CertificateSigningRequest>;
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly waiting: WaitingRequests;
  readonly clock: Clock;
  readonly clusterAddresses: Pick<ClusterAddressReader, "read">;
  readonly apiServerHost: string;
}

/** Limits how long a released address can still be certified. Requests that arrive together share one lookup. */
const MAX_DATA_AGE_MS = 5000;

/** Reads the request and the instance that it claims. undefined: nothing to decide. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Input | undefined> {
  const { requests, nodes, waiting, clock } = deps;
  const csr = requests.get(key);
  if (csr === undefined || !isPending(csr) || isOld(csr, clock.nowMs())) {
    waiting.forget(key);
    return undefined;
  }
  const claim = claimOf(csr, readCertificateRequest(csr.spec.request));
  const node = claim.kind === "claim" ? nodes.get(claim.nodeName) : undefined;
  return { csr, claim, target: node === undefined ? undefined : await lookUp(deps, node, signal) };
}

async function lookUp(
  { instances, providers, clusterAddresses, apiServerHost }: GatherDependencies,
  node: Node,
  signal: AbortSignal,
): Promise<Target> {
  const [answer, cluster] = await Promise.all([
    instances.get(node, { signal, maxDataAgeMs: MAX_DATA_AGE_MS }),
    clusterAddresses.read(signal),
  ]);
  const witness = answer.kind === "present" ? answer.witness.provider : undefined;
  return {
    node,
    answer,
    cluster,
    apiServerHost,
    untrustedReason: providers.providers.find(({ name }) => name === witness)?.untrustedReason,
  };
}
