import { brokenItem } from "../convert/methods.ts";
import { type AnswerContext, brokenAnswer } from "../convert/instance.ts";
import { ContractBreachError } from "../model/breach.ts";
import { type ProviderError, asProviderError, contractError, isOfClass, isProviderError } from "../model/errors.ts";
import type { InstanceAnswer } from "../model/instance.ts";
import type { VolumeResult } from "../model/volume.ts";
import type { Answered, Session } from "./session.ts";

interface LookupResponse<Result> {
  readonly results: readonly Result[];
  readonly scopeId: string;
}

type Unknown = { readonly kind: "unknown"; readonly error: ProviderError };

type Result = InstanceAnswer | VolumeResult;

/** How one kind of object is looked up in batches. */
export interface Lookup<Item extends { readonly name: string }, Wire, Ours extends Result> {
  readonly session: Session;
  /** Capability and quota class. */
  readonly group: "instances" | "volumes";
  /** Full name of the item's message, for its limits. */
  readonly message: string;
  sizeBytes(item: Item): number;
  call(items: readonly Item[]): Promise<Answered<LookupResponse<Wire>>>;
  convert(wire: Wire, item: Item, context: AnswerContext): Ours | Unknown;
  /** Why the order of the results is wrong; undefined: it may be right. */
  misaligned?(results: readonly Wire[], items: readonly Item[]): string | undefined;
}

/** One result per item, in order. A failed call is "unknown" for all its items. */
export async function lookUp<Item extends { readonly name: string }, Wire, Ours extends Result>(
  lookup: Lookup<Item, Wire, Ours>,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<readonly (Ours | Unknown)[]> {
  if (items.length === 0) return [];
  const capability = await lookup.session.capability(lookup.group, signal).catch(asProviderError);
  if (capability instanceof Error) return items.map(() => ({ kind: "unknown", error: capability }));
  const results = new Map<number, Ours | Unknown>();
  const sendable = items.flatMap((item, index) => {
    const error = brokenItem(lookup.message, item, `${item.name} cannot be looked up`);
    if (error === undefined) return [{ item, index }];
    results.set(index, { kind: "unknown", error });
    return [];
  });
  const batches = splitBatches(sendable, capability.maxBatchSize, ({ item }) => lookup.sizeBytes(item));
  await Promise.all(
    batches.map(async (batch) => {
      const own = await lookUpBatch(
        lookup,
        batch.map(({ item }) => item),
      );
      for (const [position, { index }] of batch.entries()) results.set(index, own[position] ?? missing());
    }),
  );
  return items.map((_, index) => results.get(index) ?? missing());
}

/** At most 63 calls instead of one, for a provider that exceeds the size limit with every response. */
const MAX_HALVINGS = 5;

async function lookUpBatch<Item extends { readonly name: string }, Wire, Ours extends Result>(
  lookup: Lookup<Item, Wire, Ours>,
  items: readonly Item[],
  halvings = 0,
): Promise<readonly (Ours | Unknown)[]> {
  try {
    return convertBatch(lookup, items, await lookup.call(items));
  } catch (error) {
    if (isTooLarge(error) && items.length > 1 && halvings < MAX_HALVINGS) {
      const middle = Math.ceil(items.length / 2);
      const halves = [items.slice(0, middle), items.slice(middle)];
      return (await Promise.all(halves.map((half) => lookUpBatch(lookup, half, halvings + 1)))).flat();
    }
    return items.map(() => ({ kind: "unknown", error: asProviderError(error) }));
  }
}

function convertBatch<Item extends { readonly name: string }, Wire, Ours extends Result>(
  lookup: Lookup<Item, Wire, Ours>,
  items: readonly Item[],
  answered: Answered<LookupResponse<Wire>>,
): readonly (Ours | Unknown)[] {
  const { session, group } = lookup;
  const { results, scopeId } = answered.response;
  const isComplete = results.length === items.length;
  const broken = isComplete
    ? lookup.misaligned?.(results, items)
    : `${results.length} results for ${items.length} items`;
  const problem =
    session.scopeProblem(answered, scopeId) ??
    (broken === undefined ? undefined : brokenAnswer(broken, session.provider, answered.requestId));
  if (problem !== undefined) return items.map(() => ({ kind: "unknown", error: problem }));
  const context = session.answerContext(answered);
  return items.map((item, index) => {
    const wire = results[index];
    const result = wire === undefined ? missing() : lookup.convert(wire, item, context);
    if (result.kind === "unknown" && isOfClass(result.error, "WAIT")) {
      session.budget.hold(group, result.error.retryAfterMs);
    }
    const untrusted = result.kind === "absent" ? session.absenceProblem(result) : undefined;
    return untrusted === undefined ? result : { kind: "unknown", error: untrusted };
  });
}

/** Status 8 without a provider's details: a message exceeded a size limit. proto/README.md section 5. */
function isTooLarge(error: unknown): boolean {
  if (error instanceof ContractBreachError) return error.breach.rule === "size";
  return isProviderError(error, "RESOURCE_EXHAUSTED") && error.fromTransport;
}

function missing(): Unknown {
  return { kind: "unknown", error: contractError("INVARIANT_BROKEN", "the response has no result for the item") };
}

/** Largest request of the contract (proto/README.md LIM-2: 1 MiB) minus its context. */
const MAX_BATCH_BYTES = 1024 * 1024 - 16 * 1024;

/** Tag and length of each item of a repeated field. */
const ITEM_OVERHEAD_BYTES = 6;

/** Batches of at most `maxItems` within the request size; an oversized item gets its own batch. */
export function splitBatches<Item>(
  items: readonly Item[],
  maxItems: number,
  sizeBytes: (item: Item) => number,
): readonly (readonly Item[])[] {
  const batches: Item[][] = [];
  let batch: Item[] = [];
  let batchBytes = 0;
  for (const item of items) {
    const itemBytes = sizeBytes(item) + ITEM_OVERHEAD_BYTES;
    if (batch.length > 0 && (batch.length === maxItems || batchBytes + itemBytes > MAX_BATCH_BYTES)) {
      batches.push(batch);
      batch = [];
      batchBytes = 0;
    }
    batch.push(item);
    batchBytes += itemBytes;
  }
  return batch.length === 0 ? batches : [...batches, batch];
}
