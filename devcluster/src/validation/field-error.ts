import type { Json } from "../json.ts";

const kinds = {
  required: { reason: "FieldValueRequired", title: "Required value", showsValue: false },
  invalid: { reason: "FieldValueInvalid", title: "Invalid value", showsValue: true },
  typeInvalid: { reason: "FieldValueTypeInvalid", title: "Invalid value", showsValue: true },
  duplicate: { reason: "FieldValueDuplicate", title: "Duplicate value", showsValue: true },
  notSupported: { reason: "FieldValueNotSupported", title: "Unsupported value", showsValue: true },
  forbidden: { reason: "FieldValueForbidden", title: "Forbidden", showsValue: false },
  tooLong: { reason: "FieldValueTooLong", title: "Too long", showsValue: false },
  tooMany: { reason: "FieldValueTooMany", title: "Too many", showsValue: true },
  notFound: { reason: "FieldValueNotFound", title: "Not found", showsValue: true },
} as const;

/** One thing that is wrong with a field, in the terms of k8s.io/apimachinery's field package. */
export interface FieldError {
  readonly kind: keyof typeof kinds;
  /** Path such as `spec.ports[0].port`. */
  readonly field: string;
  readonly value?: Json | undefined;
  readonly detail?: string;
}

export function required(field: string, detail = ""): FieldError {
  return { kind: "required", field, detail };
}

export function invalidValue(field: string, value: Json | undefined, detail = ""): FieldError {
  return { kind: "invalid", field, value, detail };
}

export function duplicate(field: string, value: Json | undefined): FieldError {
  return { kind: "duplicate", field, value };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { kind: "forbidden", field, detail };
}

export function notSupported(field: string, value: Json | undefined, supported: readonly string[]): FieldError {
  const list = supported.map((word) => JSON.stringify(word)).join(", ");
  return { kind: "notSupported", field, value, detail: `supported values: ${list}` };
}

/** `limitBytes` is the most that the field may have. */
export function tooLong(field: string, limitBytes: number): FieldError {
  return { kind: "tooLong", field, detail: `may not be more than ${limitBytes} bytes` };
}

export function tooMany(field: string, count: number, limit: number): FieldError {
  return { kind: "tooMany", field, value: count, detail: `must have at most ${limit} items` };
}

/** The cause's reason, a metav1.CauseType. */
export function causeReason(error: FieldError): string {
  return kinds[error.kind].reason;
}

/** The cause's message: what is wrong, the value where it helps, and the detail. */
export function causeMessage(error: FieldError): string {
  const { title, showsValue } = kinds[error.kind];
  const value = showsValue ? `: ${JSON.stringify(error.value ?? null)}` : "";
  return `${title}${value}${error.detail === undefined || error.detail === "" ? "" : `: ${error.detail}`}`;
}
