/** What a client shows of itself. */
export interface Credentials {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
}
