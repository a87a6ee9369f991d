import { SCOPE_ANNOTATION_PREFIX } from "../api/annotations.ts";
import type { LeadershipOptions } from "./options.ts";
import type { Sidecar } from "../provider/sidecar.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";

/** The annotations of several parts on one Lease. */
export function composeAnnotations(parts: readonly LeaseAnnotation[]): LeaseAnnotation {
  return {
    read: (annotations, holderIdentity, heldUntilMs) => {
      for (const part of parts) part.read(annotations, holderIdentity, heldUntilMs);
    },
    write: () => Object.fromEntries(parts.flatMap((part) => Object.entries(part.write()))),
    propose: () => Object.fromEntries(parts.flatMap((part) => Object.entries(part.propose?.() ?? {}))),
    deferMs: () => Math.max(0, ...parts.map((part) => part.deferMs?.() ?? 0)),
    keptOn: (renewSoon) => {
      for (const part of parts) part.keptOn?.(renewSoon);
    },
  };
}

type ScopedSidecar = Pick<Sidecar, "name" | "confirmedScope" | "recallScope">;

/** Stores the confirmed scope of each provider on the Lease, where it outlives all processes. */
export class ScopeAnnotations implements LeaseAnnotation {
  readonly #sidecars: readonly ScopedSidecar[];

  constructor(sidecars: readonly ScopedSidecar[]) {
    this.#sidecars = sidecars;
  }

  read(annotations: Readonly<Record<string, string>>): void {
    for (const sidecar of this.#sidecars) sidecar.recallScope(annotations[scopeAnnotation(sidecar.name)] ?? "");
  }

  write(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#sidecars.flatMap(({ name, confirmedScope }) =>
        confirmedScope === undefined ? [] : [[scopeAnnotation(name), confirmedScope] as const],
      ),
    );
  }
}

/** How an operator accepts another scope of the provider, as the second half of a sentence that ends in "until". */
export function scopeRemedy(
  provider: string,
  {
    isElected,
    leaderElectResourceNamespace: namespace,
    leaderElectResourceName: lease,
  }: Pick<LeadershipOptions, "leaderElectResourceName" | "leaderElectResourceNamespace"> & {
    readonly isElected: boolean;
  },
): (current: string) => string {
  if (!isElected) return () => "a restart of the controller confirms it";
  return (current) =>
    `it is accepted with: kubectl -n ${namespace} annotate lease ${lease} --overwrite ${scopeAnnotation(provider)}=${quoted(current)}`;
}

function scopeAnnotation(provider: string): string {
  return `${SCOPE_ANNOTATION_PREFIX}${provider}`;
}

function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
