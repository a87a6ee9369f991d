import type { ObjectMeta } from "../api/meta.ts";
import type { KubeClient } from "./client.ts";
import { metaFromJson } from "./resources/codec.ts";
import type { Resource } from "./resources/resource.ts";
import type { Logger } from "../telemetry/log.ts";
import { sleep } from "../util/abort.ts";
import { Backoff } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";

/** Its UID is the identity of the cluster: unique in the world, constant for the cluster's life (KEP-2149). */
const IDENTITY_NAMESPACE = "kube-system";

const NAMESPACES: Resource<{ readonly metadata: ObjectMeta }> = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
  fromJson: (object) => ({ metadata: metaFromJson(object) }),
};

export interface ClusterIdentityDependencies {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Told why it is not known yet, each time a try fails. */
  readonly onFailure: (problem: string) => void;
}

/** Asks the API server who the cluster is until it answers: without identity no call to a provider is possible. */
export async function readClusterId(dependencies: ClusterIdentityDependencies): Promise<string> {
  const { client, log, clock, random, signal, onFailure } = dependencies;
  const backoff = new Backoff({ initialMs: 500, maxMs: 10_000, jitter: 0.2 }, random);
  for (;;) {
    try {
      const namespace = await client.get(NAMESPACES, { name: IDENTITY_NAMESPACE }, { signal, timeoutMs: 10_000 });
      return namespace.metadata.uid;
    } catch (error) {
      signal.throwIfAborted();
      const problem = messageOf(error);
      onFailure(problem);
      log.warn("Cannot read the identity of the cluster yet, trying on", { namespace: IDENTITY_NAMESPACE, problem });
    }
    await sleep(backoff.nextMs(), signal, clock);
  }
}
