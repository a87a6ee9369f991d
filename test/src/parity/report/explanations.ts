import type { Difference } from "./compare.ts";

/** Whether a row of the differences page is what makes the two sides differ here. Several: any of them. */
export type Explanation = readonly ((difference: Difference) => boolean)[];

const place =
  (pattern: RegExp) =>
  ({ place: where }: Difference): boolean =>
    pattern.test(where);

/** By row id. Narrow on purpose: what a row does not speak of, it does not excuse. */
export const explanations: Readonly<Record<string, Explanation>> = {
  N2: [place(/^write: (?:update nodes|patch nodes)$/)],
  N4: [place(/^event: Node \S+ cloud-node-controller Warning InitializeNodeFailed /)],
  N10: [place(/^write: patch nodes\/status$/), place(/^Node \S+\.status\.addresses\[/)],
};
