import { quotaClasses, wordsOf } from "@cloudwire/proto/words";
import type { Priority } from "../../util/semaphore.ts";

/** How often the cloud may be called. */
export interface Rate {
  readonly cloudCallsPerSecond: number;
  /** Requests that may be made at once after a pause; at least 1. */
  readonly burst: number;
}

/** What a provider says: a rate and the quota classes that share it. */
export interface CallRate extends Rate {
  /** Empty: all that are in no other. */
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
  readonly waiting: Readonly<Record<Priority, number>>;
}

/**
 * The budgets of one provider; each class is in one. The operator's word takes the place of the provider's, higher or lower: only the
 * operator knows what else uses the account, and which quota the cloud has granted. Of one of them, the first that names a class
 * counts, then the first for all.
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

/** Those that name no class are for all. */
function namedFirst(groups: readonly RateGroup[]): readonly RateGroup[] {
  const named = groups.filter(({ classes }) => classes.length > 0);
  const whole = groups.filter(({ classes }) => classes.length === 0);
  return [...named, ...whole.map(({ rate }) => ({ classes: QUOTA_CLASSES, rate }))];
}

/** Calls that clouds count together, in the contract's spelling. */
export type QuotaClass = keyof typeof quotaClasses;

export const QUOTA_CLASSES: readonly QuotaClass[] = wordsOf(quotaClasses);

/** What an answer of a provider cost at its cloud. */
export interface CallStats {
  /** Changes and retries included. */
  readonly cloudCalls: number;
  readonly cloudMutations: number;
  readonly cloudRetries: number;
  /** The cloud throttled the provider meanwhile. */
  readonly throttled: boolean;
  /** Of the oldest data in the answer; undefined: not said. */
  readonly dataAgeMs: number | undefined;
  readonly cloudRequestIds: readonly string[];
}
