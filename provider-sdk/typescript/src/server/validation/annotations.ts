import type { AnnotationSchema } from "../../definition/provider.ts";
import { isCidr, quote } from "./formats.ts";
import type { Violation } from "./violation.ts";

/** What is wrong with the values of annotations that the provider described. Others are none of its business. */
export const checkAnnotations = (
  annotations: Readonly<Record<string, string>>,
  schemas: readonly AnnotationSchema[],
): readonly Violation[] =>
  schemas.flatMap((schema) => {
    const value = annotations[schema.key];
    const kind = kinds[schema.type];
    if (value === undefined || kind.takes(value, schema)) return [];
    const field = `spec.annotations[${JSON.stringify(schema.key)}]`;
    return [
      { reason: "ANNOTATION_INVALID", field, description: `is ${quote(value)}; it takes ${kind.wanted(schema)}` },
    ];
  });

/** As Go's time.ParseDuration reads it. */
const duration = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

const isList = (value: string, isItem: (item: string) => boolean): boolean =>
  value.split(",").every((item) => isItem(item.trim()));

interface Kind {
  readonly takes: (value: string, schema: AnnotationSchema) => boolean;
  readonly wanted: (schema: AnnotationSchema) => string;
}

const anyText: Kind = { takes: () => true, wanted: () => "any text" };

const kinds: Readonly<Record<AnnotationSchema["type"], Kind>> = {
  string: anyText,
  stringList: anyText,
  bool: { takes: (value) => value === "true" || value === "false", wanted: () => "true or false" },
  integer: { takes: (value) => /^-?\d{1,15}$/.test(value), wanted: () => "a whole number" },
  duration: { takes: (value) => duration.test(value), wanted: () => "a duration such as 1m30s" },
  enum: {
    takes: (value, { allowedValues }) => allowedValues?.includes(value) ?? false,
    wanted: ({ allowedValues }) => `one of ${(allowedValues ?? []).join(", ")}`,
  },
  cidrList: { takes: (value) => isList(value, isCidr), wanted: () => "address ranges separated by commas" },
  map: {
    takes: (value) => isList(value, (item) => item.includes("=")),
    wanted: () => "key=value pairs separated by commas",
  },
};
