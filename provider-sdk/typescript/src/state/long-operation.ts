/** Work that goes on after the calls that asked for it were answered. */
export interface LongOperation {
  /** Made by the SDK: it tells its own ids from the vendor's, and those of an earlier process. */
  readonly id: string;
  readonly startTime: Date;
}

/** What is known of the long work on one object. */
export type LongOperationState =
  | { readonly kind: "running"; readonly operation: LongOperation }
  /** It failed, and no caller was told so far. */
  | { readonly kind: "failed" };

const prefix = "cloudwire-operation/";

/** The id of the n-th long operation of a process. */
export const longOperationId = (bootId: string, count: number): string => `${prefix}${bootId}/${count}`;

/** True: the SDK made it, in this process or another. Providers are never shown one. */
export const isLongOperationId = (id: string): boolean => id.startsWith(prefix);
