/** The part of a fault's table entry that its evaluation needs. */
export interface NamedFault {
  readonly name: string;
  /** What is wrong. */
  readonly fault: string;
  /** Ids of the checks that have to fail. */
  readonly fails: readonly string[];
}

/** A check that failed, and what it says. */
export interface Failure {
  readonly id: string;
  readonly says: string;
}

/** Whether a fault was found. */
export interface FaultOutcome {
  readonly name: string;
  readonly fault: string;
  /**
   * Found: exactly the checks failed that have to. Differs: others did, or not all. Not shown: none of the checks that have to fail passes on the provider
   * without the fault, so there is nothing to see.
   */
  readonly kind: "found" | "differs" | "not shown";
  /** Ids of the checks that have to fail, of those that pass without the fault. */
  readonly must: readonly string[];
  /** Ids of the checks that did. */
  readonly did: readonly string[];
  /** Of those that did and do not have to, what they say. */
  readonly surplus: readonly Failure[];
  readonly elapsedMs: number;
  /** How often it was tried. */
  readonly tries: number;
}

/** Compares what failed with what has to. Checks that fail without the fault say nothing about it. */
export const evaluateFault = ({
  mutant: { name, fault, fails },
  passing,
  failing,
  elapsedMs,
}: {
  readonly mutant: NamedFault;
  readonly passing: ReadonlySet<string>;
  readonly failing: readonly Failure[];
  readonly elapsedMs: number;
}): FaultOutcome => {
  const must = fails.filter((id) => passing.has(id)).toSorted();
  const reported = failing.filter(({ id }) => passing.has(id)).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const did = reported.map(({ id }) => id);
  const surplus = reported.filter(({ id }) => !must.includes(id));
  const found = must.join() === did.join() ? "found" : "differs";
  return { name, fault, kind: must.length === 0 ? "not shown" : found, must, did, surplus, elapsedMs, tries: 1 };
};

/** A line for a fault that was found, and what differs for others. */
export const outcomeLines = ({ name, fault, kind, must, did, surplus, tries }: FaultOutcome): string => {
  const again = tries > 1 ? ` (at try ${tries})` : "";
  const first = `${kind.toUpperCase().padEnd(9)}  ${name}  ${fault}${again}`;
  switch (kind) {
    case "found":
      return `${first}\n  must and did fail  ${must.join(", ")}\n`;
    case "differs": {
      const missing = must.filter((id) => !did.includes(id));
      return [
        first,
        `  must fail  ${must.join(", ")}`,
        ...(missing.length === 0 ? [] : [`  did not    ${missing.join(", ")}`]),
        ...surplus.map(({ id, says }) => `  did, too   ${id}: ${says}`),
        "",
      ].join("\n");
    }
    case "not shown":
      return `${first}\n`;
  }
  return kind satisfies never;
};

/** What differs is tried once more: a machine that is busy may make a check late. */
export const evaluatedTwice = async (run: () => Promise<FaultOutcome>): Promise<FaultOutcome> => {
  const outcome = await run();
  return outcome.kind === "differs" ? { ...(await run()), tries: 2 } : outcome;
};
