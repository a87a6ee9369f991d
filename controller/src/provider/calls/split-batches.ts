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
