/**
 * Annotations of a Lease for state that must outlive the process and that only the leader writes. client-go's lock keeps annotations of others
 * (tools/leaderelection/resourcelock/leaselock.go v0.36.3).
 */
export interface LeaseAnnotation {
  /**
   * The Lease was read or written, with all its annotations and its `holderIdentity`. Called before {@link write} is used. `heldUntilMs` (monotonic): a
   * successful write of ours holds it until then; undefined: it was only read.
   */
  read(annotations: Readonly<Record<string, string>>, holderIdentity: string, heldUntilMs?: number): void;
  /** Written with each renewal. undefined removes an annotation; others are kept. */
  write(): Readonly<Record<string, string | undefined>>;
  /** Written by a process that does not hold the Lease, once for each state that it sees. @default nothing */
  propose?(): Readonly<Record<string, string>>;
  /** How much later this process takes a free Lease, to let a better candidate take it. @default 0 */
  deferMs?(): number;
  /** Called once, before the first read, with a function that renews the Lease immediately. */
  keptOn?(renewSoon: () => void): void;
}
