/** A fault, as far as its table entry is needed to judge it. */
export interface NamedFault {
  readonly name: string;
  /** What is wrong. */
  readonly fault: string;
  /** Ids of the checks that have to fail. */
  readonly fails: readonly string[];
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
  readonly elapsedMs: number;
  /** How often it was tried. */
  readonly tries: number;
}

/** Compares what failed with what has to. Checks that fail without the fault say nothing about it. */
export const judgeFault = ({
  mutant: { name, fault, fails },
  passing,
  failing,
  elapsedMs,
}: {
  readonly mutant: NamedFault;
  readonly passing: ReadonlySet<string>;
  readonly failing: readonly string[];
  readonly elapsedMs: number;
}): FaultOutcome => {
  const must = fails.filter((id) => passing.has(id)).toSorted();
  const did = failing.filter((id) => passing.has(id)).toSorted();
  const found = must.join() === did.join() ? "found" : "differs";
  return { name, fault, kind: must.length === 0 ? "not shown" : found, must, did, elapsedMs, tries: 1 };
};

/** A line for a fault that was found, and what differs for others. */
export const outcomeLines = ({ name, fault, kind, must, did, tries }: FaultOutcome): string => {
  const again = tries > 1 ? ` (at try ${tries})` : "";
  const first = `${kind.toUpperCase().padEnd(9)}  ${name}  ${fault}${again}`;
  switch (kind) {
    case "found":
      return `${first}\n  must and did fail  ${must.join(", ")}\n`;
    case "differs": {
      const [missing, surplus] = [must.filter((id) => !did.includes(id)), did.filter((id) => !must.includes(id))];
      return [
        first,
        `  must fail  ${must.join(", ")}`,
        ...(missing.length === 0 ? [] : [`  did not    ${missing.join(", ")}`]),
        ...(surplus.length === 0 ? [] : [`  did, too   ${surplus.join(", ")}`]),
        "",
      ].join("\n");
    }
    case "not shown":
      return `${first}\n`;
  }
  return kind satisfies never;
};
