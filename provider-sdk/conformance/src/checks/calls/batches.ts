import type { MethodName } from "@cloudwire/proto/methods";
import type { Check, CheckContext, ProfileName } from "../../suite/check.ts";
import { expectError, expectOk, fail } from "../../suite/expect.ts";
import { property } from "../../contract/field-rules.ts";
import { methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";

/** A method that takes a batch. */
interface Batch {
  /** What its checks' ids begin with. */
  readonly prefix: string;
  readonly method: MethodName;
  readonly profile: ProfileName;
  readonly capability?: string;
  readonly field: string;
  readonly maxOf: (context: CheckContext) => number | undefined;
}

const batches: readonly Batch[] = [
  {
    prefix: "inst",
    method: "BatchGetInstances",
    profile: "instances",
    field: "nodes",
    maxOf: ({ info }) => info.capabilities?.instances?.maxBatchSize,
  },
  {
    prefix: "vol",
    method: "BatchGetVolumes",
    profile: "volumes",
    field: "volumes",
    maxOf: ({ info }) => info.capabilities?.volumes?.maxBatchSize,
  },
  {
    prefix: "route.ensure",
    method: "BatchEnsureRoutes",
    profile: "routes",
    // Routes are only asked about: no table has room for so many.
    capability: "routes.validate_only",
    field: "routes",
    maxOf: ({ info }) => info.capabilities?.routes?.maxBatchSize,
  },
  {
    prefix: "route.delete",
    method: "BatchDeleteRoutes",
    profile: "routes",
    field: "routes",
    maxOf: ({ info }) => info.capabilities?.routes?.maxBatchSize,
  },
];

const call = (batch: Batch, context: CheckContext, count: number) => {
  const sample = sampleRequest(batch.method, context);
  const items: unknown = property(sample, batch.field);
  const first: unknown = Array.isArray(items) ? items[0] : undefined;
  const filled = Array.from({ length: count }, (_, index) => named(batch, first, index));
  return context.caller.call(methodsByName[batch.method], { ...sample, [batch.field]: filled });
};

/** Routes of one range would be duplicates: each item has its own. */
const named = ({ field }: Batch, item: unknown, index: number): unknown => {
  const more =
    field === "routes" ? { destinationCidr: `10.${index >> 8}.${index & 255}.0/24` } : { name: `n-${index}` };
  return { ...(typeof item === "object" ? item : {}), ...more };
};

const ofBatch = (batch: Batch): readonly Check[] => {
  const { profile, capability } = batch;
  const base = { level: "S", profile, rules: ["BAT-2"], ...(capability !== undefined && { capability }) } as const;
  return [
    {
      ...base,
      id: `${batch.prefix}.batch.empty`,
      title: `${batch.method} refuses an empty batch with BATCH_EMPTY`,
      why: "An empty batch is a caller's fault; answered with OK, the fault stays hidden.",
      run: async (context) => {
        const wanted = { codes: [3], reasons: ["BATCH_EMPTY"], field: batch.field };
        expectError(await call(batch, context, 0), wanted, "an empty batch");
      },
    },
    {
      ...base,
      id: `${batch.prefix}.batch.over`,
      title: `${batch.method} refuses one item more than max_batch_size with BATCH_TOO_LARGE`,
      why: "The controller learns by it that the limit has changed.",
      run: async (context) => {
        const max = batch.maxOf(context) ?? 0;
        const called = await call(batch, context, max + 1);
        // Above 1000 the field's own limit strikes first.
        const reasons = max >= 1_000 ? ["BATCH_TOO_LARGE", "FIELD_TOO_LARGE"] : ["BATCH_TOO_LARGE"];
        expectError(called, { codes: [3], reasons, field: batch.field }, `a batch of ${max + 1}`);
      },
    },
    {
      ...base,
      level: "R",
      id: `${batch.prefix}.batch.max`,
      title: `${batch.method} serves max_batch_size items, and answers each`,
      rules: ["BAT-1", "BAT-2"],
      why: "The controller fills its batches.",
      timeoutMs: 70_000,
      run: async (context) => {
        const max = batch.maxOf(context) ?? 0;
        const called = await call(batch, context, max);
        const results: unknown = property(expectOk(called, `a batch of ${max}`).response, "results");
        const got = Array.isArray(results) ? results.length : 0;
        if (got !== max)
          fail({
            message: "not every item is answered",
            expected: String(max),
            got: String(got),
            exchange: called.exchange,
          });
      },
    },
  ];
};

/** The bounds of every method that takes a batch. */
export const batchChecks: readonly Check[] = batches.flatMap(ofBatch);
