import { ProviderError } from "@cloudwire/provider-sdk";
import type { Consistency, Unreachable } from "../api/common.ts";

/** What every answer of the cloud says of itself. */
export interface Evidence {
  readonly consistency: Consistency;
  readonly observedAt: string;
  readonly unreachable: Unreachable;
}

/** Why nothing may be concluded from what a look-up lacks; undefined: it may. */
export function missProblem(lookup: Evidence & { readonly missing?: object }): ProviderError | undefined {
  const outage = outageProblem(lookup);
  if (outage) return outage;
  if (lookup.consistency !== "strong") {
    return incomplete("the response came from a replica that may lag: missing objects may exist");
  }
  return lookup.missing ? undefined : incomplete("the cloud does not list the missing objects");
}

/** Why an id is neither found nor named as missing; undefined: it is named. */
export function checkAccounted(missing: readonly string[], wanted: string): ProviderError | undefined {
  return missing.includes(wanted) ? undefined : incomplete(`the cloud's response does not contain ${wanted}`);
}

/** Why a list may not be taken as the whole; undefined: it may. */
export function endProblem(page: Evidence & { readonly complete?: boolean }): ProviderError | undefined {
  const outage = outageProblem(page);
  if (outage) return outage;
  return page.complete === true ? undefined : incomplete("the cloud's list is not marked as complete");
}

/** Why data is too old for the caller; undefined: it is fresh enough. */
export function freshnessProblem(
  { consistency, observedAt }: Evidence,
  maxDataAgeMs: number,
  nowMs = Date.now(),
): ProviderError | undefined {
  if (consistency === "strong") return undefined;
  const ageMs = nowMs - Date.parse(observedAt);
  if (ageMs <= maxDataAgeMs) return undefined;
  return incomplete(`the response came from a replica ${ageMs} ms behind, ${maxDataAgeMs} ms are allowed`);
}

function outageProblem({ unreachable: { zones } }: Evidence): ProviderError | undefined {
  if (zones.length === 0) return undefined;
  const zone = zones.join(",");
  return new ProviderError("ZONE_UNREACHABLE", `the cloud cannot reach zone ${zone}`, { metadata: { zone } });
}

function incomplete(message: string): ProviderError {
  return new ProviderError("INCOMPLETE_ANSWER", message);
}
