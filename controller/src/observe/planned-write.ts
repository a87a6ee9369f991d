import { createHash } from "node:crypto";

/** One field that a write would change. Values are those of Kubernetes' JSON; undefined: there is none. */
export interface FieldChange {
  /** `metadata.labels["example.com/a"]`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A write that was not made. */
export type PlannedWrite =
  | {
      readonly target: "kubernetes";
      readonly verb: "create" | "update" | "patch" | "delete";
      /** Plural, with its subresource: `services/status`. */
      readonly resource: string;
      /** `namespace/name`, or `name`. */
      readonly object: string;
      readonly fields: readonly FieldChange[];
    }
  | {
      readonly target: "provider";
      /** The operator's name. */
      readonly provider: string;
      /** Name of the RPC. */
      readonly rpc: string;
      /** Why, as audit logs have it. */
      readonly trigger: string;
      /** What the provider says that it would do. */
      readonly changes: readonly string[];
      /** False: it cannot tell, so that the call may come to nothing. */
      readonly isChecked: boolean;
    };

/**
 * `addition`: nothing that is there changes; a label, a condition or an object is new. `change`: something else comes in its place, or
 * it is not known. `removal`: something that is there goes.
 */
export type Effect = "addition" | "change" | "removal";

/** The worst of what it does. */
export function effectOf(write: PlannedWrite): Effect {
  if (write.target === "provider") return "change";
  if (write.verb === "delete") return "removal";
  if (write.verb === "create") return "addition";
  if (write.fields.some(({ after }) => after === undefined)) return "removal";
  return write.fields.length > 0 && write.fields.every(({ before }) => before === undefined) ? "addition" : "change";
}

/** One line for people. */
export function summaryOf(write: PlannedWrite): string {
  if (write.target === "provider") {
    const { provider, rpc, trigger, changes, isChecked } = write;
    const what = changes.length === 0 ? (isChecked ? "" : ": the provider cannot tell what would change") : ": ";
    return `${provider} ${rpc}${trigger === "" ? "" : ` (${trigger})`}${what}${changes.join("; ")}`;
  }
  const { verb, resource, object, fields } = write;
  const paths = fields.map(({ path }) => path).join(", ");
  return `${verb} ${resource} ${object}${paths === "" ? "" : `: ${paths}`}`;
}

/** The same for the same plan, whenever it is made: times in it do not count. */
export function digestOf(writes: readonly PlannedWrite[]): string {
  const text = JSON.stringify(writes, (key, value: unknown) => (TIME_FIELD.test(key) ? undefined : value));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** `lastTransitionTime` and its like: times of a condition go with what else of it changes, and are no change by themselves. */
export const TIME_FIELD = /Time$/;
