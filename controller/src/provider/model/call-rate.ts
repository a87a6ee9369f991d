import { quotaClasses, wordsOf } from "@cloudwire/proto/words";
import type { Priority } from "../../util/semaphore.ts";

export interface Rate {
  readonly cloudCallsPerSecond: number;
  /** Requests that may be sent at once after a pause; at least 1. */
  readonly burst: number;
}

/** A declared rate of the provider and the quota classes that share it. */
export interface CallRate extends Rate {
  /** Empty: all that are in no other. */
  readonly classes: readonly QuotaClass[];
}

export interface OperatorRate {
  /** undefined: all classes together. */
  readonly quotaClass: QuotaClass | undefined;
  /** undefined: no limit. */
  readonly rate: Rate | undefined;
}

/** Quota classes that share one budget. */
export interface RateGroup {
  readonly classes: readonly QuotaClass[];
  /** undefined: no known limit. */
  readonly rate: Rate | undefined;
}

/** State of one budget for status output. */
export interface BudgetSnapshot {
  readonly classes: readonly QuotaClass[];
  /** undefined: no known limit. */
  readonly cloudCallsPerSecond: number | undefined;
  readonly burst: number | undefined;
  readonly tokens: number | undefined;
  /** 0: not paused. */
  readonly heldMs: number;
  readonly waiting: Readonly<Record<Priority, number>>;
}

/**
 * The budgets of one provider; each class is in one. Configured rates replace declared ones: only the operator knows other users of the
 * account and granted quotas. The first rate that names a class counts, then the first for all classes.
 */
export function rateGroups(declared: readonly CallRate[], operator: readonly OperatorRate[]): readonly RateGroup[] {
  const byOperator = operator.map(({ quotaClass, rate }) => ({
    classes: quotaClass === undefined ? [] : [quotaClass],
    rate,
  }));
  const byProvider = declared.map(({ classes, cloudCallsPerSecond, burst }) => ({
    classes,
    rate: { cloudCallsPerSecond, burst },
  }));
  const alone = QUOTA_CLASSES.map((quotaClass) => ({ classes: [quotaClass], rate: undefined }));
  const taken = new Set<QuotaClass>();
  return [...namedFirst(byOperator), ...namedFirst(byProvider), ...alone].flatMap(({ classes, rate }) => {
    const free = classes.filter((quotaClass) => !taken.has(quotaClass));
    for (const quotaClass of free) taken.add(quotaClass);
    return free.length === 0 ? [] : [{ classes: free, rate }];
  });
}

/** Groups without classes apply to all. */
function namedFirst(groups: readonly RateGroup[]): readonly RateGroup[] {
  const named = groups.filter(({ classes }) => classes.length > 0);
  const whole = groups.filter(({ classes }) => classes.length === 0);
  return [...named, ...whole.map(({ rate }) => ({ classes: QUOTA_CLASSES, rate }))];
}

/** Calls that clouds count together, in the contract's spelling. */
export type QuotaClass = keyof typeof quotaClasses;

export const QUOTA_CLASSES: readonly QuotaClass[] = wordsOf(quotaClasses);

/** Cost of a call in the cloud. */
export interface CallStats {
  /** Changes and retries included. */
  readonly cloudCalls: number;
  readonly cloudMutations: number;
  readonly cloudRetries: number;
  /** The cloud throttled the provider during the call. */
  readonly throttled: boolean;
  /** Age of the oldest data in the response; undefined: unknown. */
  readonly dataAgeMs: number | undefined;
  readonly cloudRequestIds: readonly string[];
}
