import { SCOPE_ANNOTATION_PREFIX } from "../api/annotations.ts";
import type { LeadershipOptions } from "./options.ts";
import type { Sidecar } from "../provider/sidecar.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";

/** Those of several capabilities on one Lease; each has annotations of its own. */
export function composeAnnotations(parts: readonly LeaseAnnotation[]): LeaseAnnotation {
  return {
    read: (annotations, holder, heldUntilMs) => {
      for (const part of parts) part.read(annotations, holder, heldUntilMs);
    },
    write: () => Object.fromEntries(parts.flatMap((part) => Object.entries(part.write()))),
    propose: () => Object.fromEntries(parts.flatMap((part) => Object.entries(part.propose?.() ?? {}))),
    deferMs: () => Math.max(0, ...parts.map((part) => part.deferMs?.() ?? 0)),
    keptOn: (renewSoon) => {
      for (const part of parts) part.keptOn?.(renewSoon);
    },
  };
}

interface ElectionOptions extends Pick<LeadershipOptions, "leaderElectResourceName" | "leaderElectResourceNamespace"> {
  /** Whether a Lease is held. */
  readonly isElected: boolean;
}

/** Keeps the scope that each provider was confirmed in on the Lease of leader election, where it outlives every process. */
export class ScopeAnnotations implements LeaseAnnotation {
  readonly #sidecars: readonly Pick<Sidecar, "name" | "confirmedScope" | "recallScope">[];

  constructor(sidecars: readonly Pick<Sidecar, "name" | "confirmedScope" | "recallScope">[]) {
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
export function scopeRemedy(provider: string, options: ElectionOptions): (current: string) => string {
  if (!options.isElected) return () => "a restart of the controller confirms it";
  const { leaderElectResourceNamespace: namespace, leaderElectResourceName: lease } = options;
  return (current) =>
    `it is accepted with: kubectl -n ${namespace} annotate lease ${lease} --overwrite ${scopeAnnotation(provider)}=${quoted(current)}`;
}

function scopeAnnotation(provider: string): string {
  return `${SCOPE_ANNOTATION_PREFIX}${provider}`;
}

/** One word for a shell. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
