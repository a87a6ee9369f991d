import type { Node } from "../../api/node.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { nodeRef } from "../convert/node.ts";
import type { ReadOptions } from "../model/client.ts";
import { type ProviderError, ambiguousNodeOwnerError, hasReason, listed, unknownOwnerError } from "../model/errors.ts";
import type { InstanceResult, NodeRef } from "../model/instance.ts";
import { type Answered, type NodeOwner, type Provider, type ProviderSet, answered } from "../model/provider.ts";
import { InstanceBatcher } from "./instance-batcher.ts";
import { NamedInstances } from "./named-instances.ts";

/** Looks up the instance of a Node. Concurrent look-ups share calls, and results are reused while `maxDataAgeMs` allows. */
export interface InstanceReader {
  /**
   * A failed call is "unknown", an unowned Node is "notOwned". If several providers could own the Node, all are called: "present" means
   * that only that one has the instance. A Node without provider ID is "absent" only if its owner once had an instance of its name, or
   * reports one as terminated. Rejects only with the reason of `options.signal`, which affects only this caller.
   */
  get(node: Node, question: InstanceQuestion): Promise<InstanceResult>;
}

export interface InstanceQuestion extends ReadOptions {
  /** Name of the provider to call. @default the owner, or all that could be */
  readonly at?: string;
}

export interface InstanceReaderDeps {
  readonly providers: ProviderSet;
  readonly clock: Clock;
  /** Ends calls in flight; aborts when the process stops. */
  readonly signal: AbortSignal;
  /** Nodes that are probably looked up soon. @default none */
  readonly companions?: () => Iterable<Node>;
  readonly tracing: Tracing;
}

/** An older Node waits unusually long. */
const OPEN_CLAIM_IS_NEWS_AFTER_MS = 15_000;

export class BatchingInstanceReader implements InstanceReader {
  readonly #deps: InstanceReaderDeps;
  readonly #batchers = new Map<Provider, InstanceBatcher>();
  readonly #named = new NamedInstances();

  constructor(deps: InstanceReaderDeps) {
    this.#deps = deps;
  }

  async get(node: Node, { at, ...options }: InstanceQuestion): Promise<InstanceResult> {
    const result = await this.#ask(node, at, options);
    // Another provider than the owner proves nothing about the Node.
    if (at === undefined) this.#named.note(node, result);
    return result;
  }

  async #ask(node: Node, at: string | undefined, options: ReadOptions): Promise<InstanceResult> {
    const owner = this.#ownerOf(node, at);
    switch (owner.kind) {
      case "owned":
        return this.#named.resultOf(
          node,
          await this.#batcherOf(owner.provider).ask(nodeRef(node, owner.info), options),
        );
      case "unowned":
        return { kind: "notOwned", message: owner.why };
      case "undecided":
        return owner.claimants === undefined
          ? { kind: "unknown", error: owner.error }
          : this.#claim(node, owner.claimants, options);
    }
    return owner satisfies never;
  }

  #ownerOf(node: Node, at: string | undefined): NodeOwner {
    const { providers } = this.#deps;
    const named = answered(providers.providers).find(({ provider }) => provider.name === at);
    return named === undefined ? providers.ownerOfNode(node) : { kind: "owned", ...named };
  }

  /** If one provider is unavailable or untrusted, the others are not called: their results would decide nothing. */
  async #claim(node: Node, claimants: readonly Answered[], options: ReadOptions): Promise<InstanceResult> {
    const { name, creationTimestampMs } = node.metadata;
    const isNews = this.#deps.clock.nowMs() - creationTimestampMs >= OPEN_CLAIM_IS_NEWS_AFTER_MS;
    for (const { provider } of claimants) {
      const cause = provider.unavailable?.message ?? provider.untrustedReason;
      if (cause === undefined) continue;
      const message = `node ${name} has no provider ID, and ${provider.name} cannot determine whether it owns the instance: ${cause}`;
      return { kind: "unknown", error: unknownOwnerError(message, isNews) };
    }
    const reports = await Promise.all(
      claimants.map(async ({ provider, info }) => {
        const answer = await this.#batcherOf(provider).ask(nodeRef(node, info), options);
        return { provider: provider.name, answer: this.#named.resultOf(node, answer) };
      }),
    );
    return resolveOwner(name, reports, isNews);
  }

  #batcherOf(provider: Provider): InstanceBatcher {
    const known = this.#batchers.get(provider);
    if (known !== undefined) return known;
    const { clock, signal, tracing } = this.#deps;
    const batcher = new InstanceBatcher({
      clock,
      signal,
      maxBatchSize: () => provider.info?.capabilities.instances?.maxBatchSize ?? 1,
      companions: () => this.#companionsOf(provider),
      fetch: (nodes, batchOptions) => provider.client.getInstances(nodes, batchOptions),
      tracing,
    });
    this.#batchers.set(provider, batcher);
    return batcher;
  }

  *#companionsOf(provider: Provider): Iterable<NodeRef> {
    for (const node of this.#deps.companions?.() ?? []) {
      const owner = this.#deps.providers.ownerOfNode(node);
      for (const asked of askedAbout(owner)) if (asked.provider === provider) yield nodeRef(node, asked.info);
    }
  }
}

function askedAbout(owner: NodeOwner): readonly Answered[] {
  if (owner.kind === "owned") return [owner];
  return owner.kind === "undecided" ? (owner.claimants ?? []) : [];
}

/** One provider's result for a Node that several could own. */
export interface ProviderReport {
  readonly provider: string;
  readonly answer: InstanceResult;
}

/**
 * The owner is the only provider that has the instance while all others report its absence. A provider ID is permanent, so the Node has no
 * owner while one result is unknown. proto/README.md ABS-8.
 */
export function resolveOwner(nodeName: string, reports: readonly ProviderReport[], isNews: boolean): InstanceResult {
  const claiming = reports.filter(({ answer }) => answer.kind === "present");
  const [claim, rival] = claiming;
  if (rival !== undefined) {
    const names = claiming.map(({ provider }) => provider);
    const cause = "each has an instance of that name; remove all but one, or select one with --provider-node-selector";
    return { kind: "unknown", error: ambiguousNodeOwnerError(nodeName, cause, names) };
  }
  const open = reports.flatMap(({ provider, answer }) =>
    answer.kind === "unknown" ? [{ provider, error: answer.error }] : [],
  );
  const [first] = open;
  if (first !== undefined) {
    return { kind: "unknown", error: claim === undefined ? first.error : waiting(claim, open, isNews) };
  }
  return claim?.answer ?? missingInstance(nodeName, reports);
}

function waiting(
  { provider }: ProviderReport,
  open: readonly { readonly provider: string; readonly error: ProviderError }[],
  isNews: boolean,
): ProviderError {
  const who = listed(open.map((one) => one.provider));
  const reasons = [...new Set(open.map(({ error }) => error.message))].join("; ");
  const message = `${provider} has an instance of that name, but ${who} cannot determine yet whether it has one, too: ${reasons}`;
  // A cloud with a consistency delay is read again soon.
  return unknownOwnerError(message, isNews && !open.every(({ error }) => hasReason(error, "NOT_YET_CONSISTENT")));
}

/** The instance is absent if exactly one provider had it. Of several misses the oldest counts: the instance may have been created later. */
function missingInstance(nodeName: string, reports: readonly ProviderReport[]): InstanceResult {
  const misses = reports.flatMap(({ answer }) =>
    answer.kind === "absent" || answer.kind === "noMatch" ? [answer] : [],
  );
  const [absent, ...more] = misses.filter(({ kind }) => kind === "absent");
  if (absent !== undefined && more.length === 0) return absent;
  const [oldest] = misses.toSorted((left, right) => left.observeTimeMs - right.observeTimeMs);
  if (oldest !== undefined) return { ...oldest, kind: "noMatch" };
  const who = listed(reports.map(({ provider }) => provider));
  return { kind: "notOwned", message: `node ${nodeName} has no provider ID, and ${who} do not own it` };
}
