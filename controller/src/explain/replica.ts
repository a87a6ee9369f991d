import { hostname } from "node:os";
import type { Replica } from "@cloudwire/operator-api";
import type { LeaderElector } from "../leadership/elector.ts";

export interface ReplicaFacts {
  readonly version: string;
  /** undefined: there is no election, or it has not begun. */
  readonly elector: Pick<LeaderElector, "identity" | "leading" | "leader"> | undefined;
  /** Its controllers run without an election. */
  readonly isAlone: boolean;
}

/** Which process says something, and whether it is the one that does the work. */
export function replicaOf({ version, elector, isAlone }: ReplicaFacts): Replica {
  if (elector === undefined) return { identity: hostname(), leads: isAlone, version };
  const { identity, leading, leader } = elector;
  const isOther = !leading && leader !== "" && leader !== identity;
  return { identity, leads: leading, ...(isOther ? { leader } : {}), version };
}
