/** How many of one provider's Nodes go the same way, and how many may. */
export interface Brake {
  /** Nodes whose machine is said to be absent, and Nodes deleted in the last {@link BRAKE_WINDOW_MS}, each once. */
  readonly gone: number;
  /** All Nodes of the provider, those deleted in the window included. */
  readonly nodes: number;
  /** Others may have been deleted of which nothing is known. */
  readonly isUnknown: boolean;
  readonly maxPercent: number;
  /** This Node neither counts nor is held: it was released, or somebody announced that it goes. */
  readonly exempt: boolean;
}

export const BRAKE_WINDOW_MS = 600_000;

const WINDOW_MINUTES = BRAKE_WINDOW_MS / 60_000;

/** So many may always go: a share of a small cluster is less than one Node. */
const ALWAYS = 3;

export function brakeLimit({ nodes, maxPercent }: Pick<Brake, "nodes" | "maxPercent">): number {
  return Math.max(ALWAYS, Math.floor((nodes * maxPercent) / 100));
}

/**
 * More Nodes go at once than a cluster loses in the ordinary course of things: more likely the cloud's answers are wrong. What is unknown
 * counts as all that may go, where there is a brake at all.
 */
export function isBraked(brake: Brake): boolean {
  const { gone, nodes, isUnknown } = brake;
  const limit = brakeLimit(brake);
  return gone > limit || (isUnknown && gone > 0 && limit < nodes);
}

export function brakeMessage(provider: string, brake: Brake): string {
  const { gone, nodes, isUnknown } = brake;
  const limit = brakeLimit(brake);
  const rest =
    isUnknown && gone <= limit
      ? `it is not known how many went within the last ${WINDOW_MINUTES} minutes, for the note on the Lease could not be read`
      : `at most ${limit} go within ${WINDOW_MINUTES} minutes`;
  return `provider ${provider} calls the machines of ${gone} of ${nodes} Nodes absent, and ${rest}`;
}
