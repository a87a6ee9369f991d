import type { Service } from "../../../api/service.ts";
import type { UnsupportedRequest } from "./unsupported.ts";
import type { Present } from "../record/record.ts";
import type { Wish } from "./wish.ts";

/** Why the wish of today is not carried out. The load balancer of the last wish that was accepted is kept up meanwhile. */
export interface Refusal {
  readonly message: string;
  /** undefined: not until the Service or the provider changes. */
  readonly retryAfterMs: number | undefined;
  /** The same in words for the user. */
  readonly nextTry: string;
}

/** When every refusal is tried again. */
export const NEXT_TRY = "tried again when the Service or the provider changes";

/** The provider does not offer what must not be left out. */
export function refusalOf(unsupported: readonly UnsupportedRequest[]): Refusal | undefined {
  const refused = unsupported.filter(({ effect }) => effect === "refused");
  if (refused.length === 0) return undefined;
  const message = refused.map((request) => `${request.field}: ${request.message}`).join("; ");
  return { message, retryAfterMs: undefined, nextTry: NEXT_TRY };
}

/** The Service as it is, but for the wish, which is the one that was last accepted; nodes are those of now. */
export function lastAccepted(
  { service, wish }: { readonly service: Service; readonly wish: Wish },
  present: Present,
): { readonly service: Service; readonly wish: Wish } {
  const { spec, metadata } = present.service;
  return {
    service: { ...service, spec, metadata: { ...service.metadata, annotations: metadata.annotations } },
    wish: { spec: present.spec, specFingerprint: present.specFingerprint, nodes: wish.nodes },
  };
}
