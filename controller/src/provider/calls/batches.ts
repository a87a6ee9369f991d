import { brokenItem } from "../convert/methods.ts";
import { type AnswerContext, brokenAnswer } from "../convert/instance.ts";
import type { QuotaClass } from "../model/call-rate.ts";
import { type ProviderError, asProviderError, contractError, isOfClass, isProviderError } from "../model/errors.ts";
import type { Answered, Session } from "./session.ts";

interface LookupResponse<Result> {
  readonly results: readonly Result[];
  readonly scopeId: string;
}

type Unknown = { readonly kind: "unknown"; readonly error: ProviderError };

/** How one kind of object is looked up many at a time. */
export interface Lookup<Item extends { readonly name: string }, Result, Answer extends { readonly kind: string }> {
  readonly session: Session;
  readonly quotaClass: QuotaClass;
  /** Full name of the item's message, for its limits. */
  readonly message: string;
  readonly maxBatchSize: number;
  sizeBytes(item: Item): number;
  call(items: readonly Item[]): Promise<Answered<LookupResponse<Result>>>;
  answer(result: Result, item: Item, context: AnswerContext): Answer | Unknown;
  /** Why results cannot belong to the items they stand for; undefined when they can. */
  misaligned(results: readonly Result[], items: readonly Item[]): string | undefined;
}

/** One answer for each item, in order. Whatever goes wrong with a call is "unknown" for all items in it. */
export async function lookUp<Item extends { readonly name: string }, Result, Answer extends { readonly kind: string }>(
  lookup: Lookup<Item, Result, Answer>,
  items: readonly Item[],
): Promise<readonly (Answer | Unknown)[]> {
  const answers = new Map<number, Answer | Unknown>();
  const sendable = items.flatMap((item, index) => {
    const error = brokenItem(lookup.message, item, `${item.name} cannot be looked up`);
    if (error === undefined) return [{ item, index }];
    answers.set(index, { kind: "unknown", error });
    return [];
  });
  const batches = splitBatches(sendable, lookup.maxBatchSize, ({ item }) => lookup.sizeBytes(item));
  await Promise.all(
    batches.map(async (batch) => {
      const batchAnswers = await lookUpBatch(
        lookup,
        batch.map(({ item }) => item),
      );
      for (const [position, { index }] of batch.entries()) {
        const answer = batchAnswers[position];
        if (answer !== undefined) answers.set(index, answer);
      }
    }),
  );
  return items.map((_, index) => answers.get(index) ?? unanswered());
}

async function lookUpBatch<Item extends { readonly name: string }, Result, Answer extends { readonly kind: string }>(
  lookup: Lookup<Item, Result, Answer>,
  items: readonly Item[],
): Promise<readonly (Answer | Unknown)[]> {
  try {
    const answered = await lookup.call(items);
    return judge(lookup, items, answered);
  } catch (error) {
    if (isTooLarge(error) && items.length > 1) {
      const middle = Math.ceil(items.length / 2);
      const halves = [items.slice(0, middle), items.slice(middle)];
      return (await Promise.all(halves.map((half) => lookUpBatch(lookup, half)))).flat();
    }
    return items.map(() => ({ kind: "unknown", error: asProviderError(error) }));
  }
}

function judge<Item extends { readonly name: string }, Result, Answer extends { readonly kind: string }>(
  lookup: Lookup<Item, Result, Answer>,
  items: readonly Item[],
  answered: Answered<LookupResponse<Result>>,
): readonly (Answer | Unknown)[] {
  const { session, quotaClass } = lookup;
  const { results, scopeId } = answered.response;
  const broken =
    results.length === items.length
      ? lookup.misaligned(results, items)
      : `${results.length} results for ${items.length} items`;
  const problem =
    session.scopeProblem(answered, scopeId) ??
    (broken === undefined ? undefined : brokenAnswer(broken, session.provider, answered.requestId));
  if (problem !== undefined) return items.map(() => ({ kind: "unknown", error: problem }));
  const context = session.answerContext(answered);
  return items.map((item, index) => {
    const result = results[index];
    const answer = result === undefined ? unanswered() : lookup.answer(result, item, context);
    if ("error" in answer && isOfClass(answer.error, "WAIT")) {
      session.budget.hold(quotaClass, answer.error.retryAfterMs);
    }
    return answer;
  });
}

/** A status 8 that no provider made: a message over somebody's limit. proto/README.md section 5. */
function isTooLarge(error: unknown): boolean {
  return isProviderError(error, "RESOURCE_EXHAUSTED") && error.fromTransport;
}

function unanswered(): Unknown {
  return { kind: "unknown", error: contractError("INVARIANT_BROKEN", "the item got no answer") };
}

/** Largest request of the contract, less room for its context. proto/README.md LIM-2: 1 MiB. */
const MAX_BATCH_BYTES = 1024 * 1024 - 16 * 1024;

/** Tag and length in front of each item of a repeated field. */
const ITEM_OVERHEAD_BYTES = 6;

/** `items` in runs of at most `maxItems` that together stay under the size of a request; an item that is too large alone goes alone. */
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
