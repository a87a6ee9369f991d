/** admission.k8s.io/v1, without the fields that no webhook of this program reads. */
export interface AdmissionRequest {
  /** Of the request; returned with the response. */
  readonly uid: string;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  /** "" for the object itself. */
  readonly subResource: string;
  /** "CREATE", "UPDATE", "DELETE" or "CONNECT". */
  readonly operation: string;
  /** Includes the changes of other webhooks; undefined for a deletion. */
  readonly object: Readonly<Record<string, unknown>> | undefined;
}

export type AdmissionDecision =
  | {
      readonly kind: "allowed";
      /** RFC 6902; empty: no change. */
      readonly patch: readonly AdmissionPatchStep[];
      /** Shown to the user. */
      readonly warnings: readonly string[];
    }
  | AdmissionDenial;

export interface AdmissionDenial {
  readonly kind: "denied";
  /** Shown to the user: the problem and how to fix it. */
  readonly message: string;
  /** `forbidden` (403): not allowed until something changes. `unavailable` (503): may be allowed later. */
  readonly reason: "forbidden" | "unavailable";
  /** For Retry-After; undefined: not sent. */
  readonly retryAfterSeconds: number | undefined;
}

/** One step of a JSON patch. */
export interface AdmissionPatchStep {
  readonly op: "add" | "replace";
  readonly path: string;
  readonly value: unknown;
}

/** A name for `--webhooks`. */
export const PERSISTENT_VOLUME_LABEL_WEBHOOK = "persistent-volume-label";

export interface AdmissionWebhook {
  /** As in `--webhooks`. */
  readonly name: string;
  readonly path: string;
  /** Must respond before `signal` aborts, at the timeout of the API server. A rejection is an internal error. */
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionDecision>;
}
