import { QUOTA_CLASSES, type QuotaClass } from "../api/quota-classes.ts";
import type { CallPriority } from "./client.ts";

/** How often the cloud may be called. */
export interface Rate {
  readonly cloudCallsPerSecond: number;
  /** Requests that may be made at once after a pause; at least 1. */
  readonly burst: number;
}

/** A rate and the quota classes that share it. */
export interface CallRate extends Rate {
  readonly classes: readonly QuotaClass[];
}

/** What an operator says of one provider. */
export interface OperatorRate {
  /** undefined: of all classes together. */
  readonly quotaClass: QuotaClass | undefined;
  /** undefined: no limit. */
  readonly rate: Rate | undefined;
}

/** Quota classes that share one budget. */
export interface RateGroup {
  readonly classes: readonly QuotaClass[];
  /** undefined: nothing is known of a limit. */
  readonly rate: Rate | undefined;
}

/** How one budget is, for people. */
export interface BudgetSnapshot {
  readonly classes: readonly QuotaClass[];
  /** undefined: no limit known. */
  readonly cloudCallsPerSecond: number | undefined;
  readonly burst: number | undefined;
  readonly tokens: number | undefined;
  /** 0: not held. */
  readonly heldMs: number;
  readonly waiting: Readonly<Record<CallPriority, number>>;
}

/**
 * The budgets of one provider; each class is in one. The operator's word takes the place of the provider's, higher or lower: only the
 * operator knows what else uses the account, and which quota the cloud has granted.
 */
export function rateGroups(declared: readonly CallRate[], operator: readonly OperatorRate[]): readonly RateGroup[] {
  const named = operator.flatMap(({ quotaClass, rate }) =>
    quotaClass === undefined ? [] : [{ classes: [quotaClass], rate }],
  );
  const whole = operator.find(({ quotaClass }) => quotaClass === undefined);
  const rest = whole === undefined ? declared.map(asGroup) : [{ classes: QUOTA_CLASSES, rate: whole.rate }];
  const alone = QUOTA_CLASSES.map((quotaClass) => ({ classes: [quotaClass], rate: undefined }));
  const taken = new Set<QuotaClass>();
  return [...named, ...rest, ...alone].flatMap(({ classes, rate }) => {
    const free = classes.filter((quotaClass) => !taken.has(quotaClass));
    for (const quotaClass of free) taken.add(quotaClass);
    return free.length === 0 ? [] : [{ classes: free, rate }];
  });
}

function asGroup({ classes, cloudCallsPerSecond, burst }: CallRate): RateGroup {
  return { classes, rate: { cloudCallsPerSecond, burst } };
}
