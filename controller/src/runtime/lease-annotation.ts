/**
 * Annotations that one capability keeps on a Lease: what must outlive a process and may be written only by whoever holds it. client-go's
 * lock keeps those of others (tools/leaderelection/resourcelock/leaselock.go v0.36.3).
 */
export interface LeaseAnnotation {
  /**
   * The lease was read, or written: all annotations it has now, and who holds it. Called before what {@link write} answers is used.
   * `heldUntilMs`, by the monotonic clock: until when a write of ours that was answered holds it; undefined: it was only read.
   */
  read(annotations: Readonly<Record<string, string>>, holder: string, heldUntilMs?: number): void;
  /** What the holder writes with each renewal, undefined takes an annotation away; others stay. */
  write(): Readonly<Record<string, string | undefined>>;
  /** What a process writes that does not hold the lease, once for each state that it sees. @default nothing */
  propose?(): Readonly<Record<string, string>>;
  /** How much later than the others this process takes a lease that is free, because one of them would do better. @default 0 */
  deferMs?(): number;
  /** Given once, before the first read: how to have the lease renewed ahead of its time, for what cannot wait to be written. */
  keptOn?(renewSoon: () => void): void;
}
