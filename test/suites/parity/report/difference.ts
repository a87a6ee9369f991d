/** One place in which the two sides are not alike. */
export interface Difference {
  readonly place: string;
  /** Undefined: there is nothing at this place. */
  readonly upstream: string | undefined;
  readonly ours: string | undefined;
}

/** Whether a row of the differences page is what makes the two sides differ here. Several: any of them. */
export type Explanation = readonly ((difference: Difference) => boolean)[];
