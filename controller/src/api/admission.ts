/** admission.k8s.io/v1, as far as a webhook of this program reads and answers it. */
export interface AdmissionRequest {
  /** Of this one question; sent back with the answer. */
  readonly uid: string;
  readonly resource: GroupVersionResource;
  /** "" for the object itself. */
  readonly subResource: string;
  /** "CREATE", "UPDATE", "DELETE" or "CONNECT". */
  readonly operation: string;
  /** As the user sent it, other webhooks' changes included; undefined for a deletion. */
  readonly object: Readonly<Record<string, unknown>> | undefined;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** What a webhook has to say. */
export type AdmissionDecision =
  | {
      readonly kind: "allowed";
      /** RFC 6902; empty: the object stays as it is. */
      readonly patch: readonly AdmissionPatchStep[];
      /** Shown to the user. */
      readonly warnings: readonly string[];
    }
  | AdmissionDenial;

export interface AdmissionDenial {
  readonly kind: "denied";
  /** Shown to the user: what is wrong and what to do. */
  readonly message: string;
  /** `forbidden` (403): will not be allowed until something changes. `unavailable` (503): may be allowed later. */
  readonly reason: "forbidden" | "unavailable";
  /** Clients that honor Retry-After try again by themselves after so long; undefined: they do not. */
  readonly retryAfterSeconds: number | undefined;
}

/** One step of a JSON patch. */
export interface AdmissionPatchStep {
  readonly op: "add" | "replace";
  readonly path: string;
  readonly value: unknown;
}

/** The names that `--webhooks` knows. */
export const PERSISTENT_VOLUME_LABEL_WEBHOOK = "persistent-volume-label";

/** One webhook. */
export interface AdmissionWebhook {
  /** As `--webhooks` has it. */
  readonly name: string;
  /** Where it is served. */
  readonly path: string;
  /** Answers before `signal` aborts, whose time is that of the API server. A rejection is a fault of this program. */
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionDecision>;
}
