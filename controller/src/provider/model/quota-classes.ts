import { quotaClasses, wordsOf } from "@cloudwire/proto/words";

/** Calls that clouds count together, in the contract's spelling. */
export type QuotaClass = keyof typeof quotaClasses;

export const QUOTA_CLASSES: readonly QuotaClass[] = wordsOf(quotaClasses);
