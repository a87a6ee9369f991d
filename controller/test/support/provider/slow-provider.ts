import type { LoadBalancer } from "../../../src/provider/model/load-balancer.ts";
import type { CallOptions } from "../../../src/provider/model/client.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import { sleep } from "../../../src/util/abort.ts";
import type { Clock } from "../../../src/util/clock.ts";

/** How long a cloud takes. */
export interface Pace {
  /** On the way there, and on the way back. */
  readonly callMs: number;
  /** Reads until a change, and calls until a deletion, is through. */
  readonly polls: number;
  /** What is ensured is there in the end, and has failed. */
  readonly fails: boolean;
}

const POLL_MS = 2000;
const OPERATION = { id: "op", stage: "", progressPercent: undefined, pollAfterMs: POLL_MS, message: "" };

/** A provider whose calls take time, and whose changes go on after their answer. Paces may change meanwhile. */
export function slowProvider(provider: Provider, clock: Clock, pace: () => Pace): Provider {
  const { client } = provider;
  /** By Service UID: what is still to come. */
  const ensuring = new Map<string, number>();
  const failed = new Set<string>();
  const deleting = new Map<string, number>();
  const slowly = async <Answer>({ signal }: CallOptions, call: () => Promise<Answer>): Promise<Answer> => {
    const { callMs } = pace();
    if (callMs > 0) await sleep(callMs, signal, clock);
    try {
      return await call();
    } finally {
      if (callMs > 0) await sleep(callMs, signal, clock);
    }
  };
  const show = (loadBalancer: LoadBalancer): LoadBalancer => {
    const { uid } = loadBalancer.service;
    if (deleting.has(uid)) return { ...loadBalancer, phase: "deleting", operation: OPERATION };
    if (failed.has(uid)) return { ...loadBalancer, phase: "failed" };
    return ensuring.has(uid) ? { ...loadBalancer, phase: "provisioning", operation: OPERATION } : loadBalancer;
  };
  const began = (uid: string): void => {
    deleting.delete(uid);
    ensuring.delete(uid);
    failed.delete(uid);
    if (pace().fails) failed.add(uid);
    else if (pace().polls > 0) ensuring.set(uid, pace().polls);
  };
  return {
    ...provider,
    client: {
      ...client,
      listLoadBalancers: (options) =>
        slowly(options, async () => {
          const listing = await client.listLoadBalancers(options);
          return { ...listing, items: listing.items.map(show) };
        }),
      getLoadBalancer: (ref, options) =>
        slowly(options, async () => {
          const answer = await client.getLoadBalancer(ref, options);
          const { uid } = ref.service;
          const left = (ensuring.get(uid) ?? 0) - 1;
          if (left > 0) ensuring.set(uid, left);
          else ensuring.delete(uid);
          return answer.kind === "present" ? { ...answer, loadBalancer: show(answer.loadBalancer) } : answer;
        }),
      ensureLoadBalancer: (input, options) =>
        slowly(options, async () => {
          const answer = await client.ensureLoadBalancer(input, options);
          began(input.service.uid);
          return { ...answer, loadBalancer: answer.loadBalancer && show(answer.loadBalancer) };
        }),
      updateLoadBalancerNodes: (input, options) =>
        slowly(options, () => client.updateLoadBalancerNodes(input, options)),
      deleteLoadBalancer: (ref, options) =>
        slowly(options, async () => {
          const { uid } = ref.service;
          const left = deleting.get(uid) ?? pace().polls;
          if (left > 0) {
            deleting.set(uid, left - 1);
            return { done: false, operation: OPERATION, remaining: [], diagnostics: [], plannedChanges: [] };
          }
          deleting.delete(uid);
          ensuring.delete(uid);
          failed.delete(uid);
          return client.deleteLoadBalancer(ref, options);
        }),
    },
  };
}
