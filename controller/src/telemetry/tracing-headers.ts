import type { Problem } from "../options/flag.ts";

/** Both are sent; the exporter would show a header that it cannot send whole, secrets included. */
const VARIABLES = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] as const;

/** What gRPC sends as text (@grpc/grpc-js 1.14, metadata.ts); in -bin keys it sends bytes, for which the variables have no form. */
const KEY = /^(?!.*-bin$)[:0-9a-z_.-]+$/;
const TEXT = /^[ -~]*$/;

/** What is wrong with the headers that go with traces: by variable, place and key, never by value. */
export function tracingHeaderProblems(environment: Readonly<Record<string, string | undefined>>): readonly Problem[] {
  return VARIABLES.flatMap((where) =>
    (environment[where] ?? "").split(",").flatMap((entry, at) => {
      const what = headerProblem(entry.trim(), `header ${at + 1}`);
      return what === undefined ? [] : [{ where, what }];
    }),
  );
}

/** Of one `key=value`, both in percent-encoding. */
function headerProblem(entry: string, header: string): string | undefined {
  if (entry === "") return undefined;
  const split = entry.indexOf("=");
  if (split < 1) return `${header} is not key=value; in a value write a comma as %2C`;
  const key = decoded(entry.slice(0, split))?.toLowerCase();
  if (key === undefined || !KEY.test(key))
    return `${header} has no key that gRPC sends: letters, digits, dashes, dots and underscores, not ending with -bin`;
  const value = decoded(entry.slice(split + 1));
  if (value === undefined) return `${header} (${key}) has a percent sign that begins no code; write %25`;
  return TEXT.test(value) ? undefined : `${header} (${key}) holds a line break or a character that is not ASCII`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
