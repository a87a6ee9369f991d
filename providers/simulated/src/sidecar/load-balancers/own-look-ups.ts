import { setTimeout } from "node:timers/promises";
import type { CallContext, LoadBalancerRef } from "@cloudwire/provider-sdk";
import type { LoadBalancer } from "../../api/load-balancers.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { serviceUidTag } from "../ownership.ts";
import { findAllOf, findAllOfCluster, ownOf } from "./find.ts";
import { NextLookUp } from "./next-look-up.ts";

interface Question {
  readonly ref: LoadBalancerRef;
  readonly context: CallContext;
}

/** Little beside a call of the cloud, much beside the time between requests that the controller sends together. */
const gatherMs = 5;

/** Looks up what the cloud has for Services, for several at once with one list of the cluster's load balancers. */
export class OwnLookUps {
  readonly #cloud: CloudAccess;
  readonly #byCluster = new Map<string, NextLookUp<Question, LoadBalancer | undefined>>();

  constructor(cloud: CloudAccess) {
    this.#cloud = cloud;
  }

  /**
   * What `findOwn` finds, as exact.
   * @throws ProviderError if the cloud's answer proves nothing
   */
  async find(ref: LoadBalancerRef, context: CallContext): Promise<LoadBalancer | undefined> {
    const { id } = ref.cluster;
    const lookUps =
      this.#byCluster.get(id) ??
      new NextLookUp(
        async (questions: readonly Question[], signal: AbortSignal) => this.#lookUp(questions, signal),
        async (signal) => setTimeout(gatherMs, undefined, { signal }),
      );
    this.#byCluster.set(id, lookUps);
    return lookUps.ask({ ref, context }, context.signal);
  }

  async #lookUp(
    questions: readonly Question[],
    signal: AbortSignal,
  ): Promise<(question: Question) => LoadBalancer | undefined> {
    const [first, second] = questions;
    if (!first) return () => undefined;
    // A shared call is counted once, for the first who asked.
    const callScope = { signal, recordCloudCall: first.context.recordCloudCall };
    const found = second
      ? await findAllOfCluster(this.#cloud, first.ref.cluster, callScope)
      : await findAllOf(this.#cloud, first.ref, callScope);
    const byService = Map.groupBy(found, ({ tags }) => tags[serviceUidTag]);
    return ({ ref }) => ownOf(ref, byService.get(ref.service.uid) ?? []);
  }
}
