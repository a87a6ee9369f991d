import type { Node } from "../../api/node.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { nodeRef } from "../convert/node.ts";
import type { ReadOptions } from "../model/client.ts";
import { type ProviderError, ambiguousNodeOwnerError, hasReason, listed, unknownOwnerError } from "../model/errors.ts";
import type { InstanceResult, NodeRef } from "../model/instance.ts";
import { type Answered, type NodeOwner, type Provider, type ProviderSet, answered } from "../model/provider.ts";
import { InstanceBatcher } from "./instance-batcher.ts";

/**
 * Looks up the machine behind one Node. Questions that arrive together leave as one call; the same question is asked once;
 * answers are reused for as long as the caller's `maxDataAgeMs` allows.
 */
export interface InstanceReader {
  /**
   * Resolves with what is known; a failed call is the answer "unknown", a Node that no provider owns is "notOwned". A Node that could
   * be of several providers is looked for at all of them: "present" means that it is of that one alone, "absent" that it is of none.
   * Rejects only with the reason of `options.signal`, which gives up this caller's wait and nobody else's.
   */
  get(node: Node, question: InstanceQuestion): Promise<InstanceResult>;
}

export interface InstanceQuestion extends ReadOptions {
  /** Name of the provider to ask, whoever owns the Node. @default the owner, or all that could be */
  readonly at?: string;
}

export interface InstanceReaderDeps {
  readonly providers: ProviderSet;
  readonly clock: Clock;
  /** Ends calls under way; aborts when the process stops. */
  readonly signal: AbortSignal;
  /** Nodes that will probably be asked about soon, whoever owns them. @default none */
  readonly companions?: () => Iterable<Node>;
  readonly tracing: Tracing;
}

/** A Node that is older than this waits longer than the ordinary course of things takes. */
const OPEN_CLAIM_IS_NEWS_AFTER_MS = 15_000;

/** One batcher for each provider. */
export class BatchingInstanceReader implements InstanceReader {
  readonly #deps: InstanceReaderDeps;
  readonly #batchers = new Map<Provider, InstanceBatcher>();

  constructor(deps: InstanceReaderDeps) {
    this.#deps = deps;
  }

  async get(node: Node, { at, ...options }: InstanceQuestion): Promise<InstanceResult> {
    const owner = this.#ownerOf(node, at);
    switch (owner.kind) {
      case "owned":
        return this.#batcherOf(owner.provider).ask(nodeRef(node, owner.info), options);
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

  /** As long as one of them cannot answer, or is not to be believed, nothing follows from what the others say: they are not asked. */
  async #claim(node: Node, claimants: readonly Answered[], options: ReadOptions): Promise<InstanceResult> {
    const { name, creationTimestampMs } = node.metadata;
    const isNews = this.#deps.clock.nowMs() - creationTimestampMs >= OPEN_CLAIM_IS_NEWS_AFTER_MS;
    for (const { provider } of claimants) {
      const why = provider.unavailable?.message ?? provider.untrustedReason;
      if (why === undefined) continue;
      const message = `node ${name} has no provider ID, and ${provider.name} cannot say whether the machine is its: ${why}`;
      return { kind: "unknown", error: unknownOwnerError(message, isNews) };
    }
    const testimonies = await Promise.all(
      claimants.map(async ({ provider, info }) => {
        const answer = await this.#batcherOf(provider).ask(nodeRef(node, info), options);
        return { provider: provider.name, answer };
      }),
    );
    return resolveOwner(name, testimonies, isNews);
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

/** What one provider says of the machine behind a Node that could be of several. */
export interface Testimony {
  readonly provider: string;
  readonly answer: InstanceResult;
}

/**
 * Whose the machine is, when all were asked: who alone has it while all others say that they have not. A provider ID is written once
 * and for ever, so as long as one cannot tell, nobody gets the Node. proto/README.md ABS-8.
 * @param isNews a wait is worth telling
 */
export function resolveOwner(nodeName: string, testimonies: readonly Testimony[], isNews: boolean): InstanceResult {
  const claiming = testimonies.filter(({ answer }) => answer.kind === "present");
  const [claim, rival] = claiming;
  if (rival !== undefined) {
    const names = claiming.map(({ provider }) => provider);
    const why =
      "each has a machine of that name; remove all but one, or say which is meant with --provider-node-selector";
    return { kind: "unknown", error: ambiguousNodeOwnerError(nodeName, why, names) };
  }
  const open = testimonies.flatMap(({ provider, answer }) =>
    answer.kind === "unknown" ? [{ provider, error: answer.error }] : [],
  );
  const [first] = open;
  if (first !== undefined) {
    return { kind: "unknown", error: claim === undefined ? first.error : waiting(claim, open, isNews) };
  }
  return claim?.answer ?? unownedAnswer(nodeName, testimonies);
}

function waiting(
  { provider }: Testimony,
  open: readonly { readonly provider: string; readonly error: ProviderError }[],
  isNews: boolean,
): ProviderError {
  const who = listed(open.map((one) => one.provider));
  const reasons = [...new Set(open.map(({ error }) => error.message))].join("; ");
  const message = `${provider} has a machine of that name, but ${who} cannot say yet whether there is one, too: ${reasons}`;
  // A cloud that is merely slow to show its machines is looked at again in a moment.
  return unknownOwnerError(message, isNews && !open.every(({ error }) => hasReason(error, "NOT_YET_CONSISTENT")));
}

/** The oldest look counts: later than that somebody may have made the machine. */
function unownedAnswer(nodeName: string, testimonies: readonly Testimony[]): InstanceResult {
  const absences = testimonies.flatMap(({ answer }) => (answer.kind === "absent" ? [answer] : []));
  const [oldest] = absences.toSorted((left, right) => left.observeTimeMs - right.observeTimeMs);
  const who = listed(testimonies.map(({ provider }) => provider));
  return oldest ?? { kind: "notOwned", message: `node ${nodeName} has no provider ID, and is not of ${who}` };
}
