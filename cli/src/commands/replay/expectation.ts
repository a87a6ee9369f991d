import { codeNames } from "@cloudwire/proto/codes";
import { isRecord, type Json } from "../../client/json.ts";
import type { RecordedCall } from "./recording.ts";

/** What an answer has to be in place of what was recorded: for a recording of something that went wrong. */
export interface Expectation {
  readonly call: number;
  /** `code`, or names and places within the answer. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Reads `CALL:FIELD=JSON`; undefined: it is none. */
export function parseExpectation(text: string): Expectation | undefined {
  const [, call, path = "", json = ""] = /^(\d+):([^=]+)=(.+)$/s.exec(text) ?? [];
  const parts = pathParts(path);
  if (call === undefined || parts === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    const [first] = parts;
    const isCode = first === "code" && parts.length === 1;
    return isCode && !codeNames.some((name) => name === value) ? undefined : { call: Number(call), path: parts, value };
  } catch {
    return undefined;
  }
}

/** The call as it should have been answered. */
export function expected(call: RecordedCall, expectations: readonly Expectation[]): RecordedCall {
  return expectations.filter((one) => one.call === call.call).reduce(applied, call);
}

function applied(call: RecordedCall, { path, value }: Expectation): RecordedCall {
  const { end } = call;
  if (end === undefined) return call;
  if (path.length === 1 && path[0] === "code") {
    const { response } = value === "OK" ? end : { response: undefined };
    return { ...call, end: { ...end, code: String(value), isGivenUp: false, response } };
  }
  const response = withValue(end.response ?? {}, path, value);
  return { ...call, end: { ...end, code: "OK", isGivenUp: false, response: isRecord(response) ? response : {} } };
}

function withValue(target: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? undefined;
  if (typeof key === "number") {
    const items: readonly unknown[] = Array.isArray(target) ? target : [];
    return Array.from({ length: Math.max(items.length, key + 1) }, (_, index) =>
      index === key ? withValue(items[index], rest, value) : items[index],
    );
  }
  const record: Json = isRecord(target) ? target : {};
  const { [key]: before, ...others } = record;
  const after = withValue(before, rest, value);
  // null takes a field out.
  return after === undefined ? others : { ...others, [key]: after };
}

/** `loadBalancer.ingress.items[0].ip`, as in reported differences. */
function pathParts(path: string): readonly (string | number)[] | undefined {
  const parts = path.split(".").flatMap((part) => {
    const [, name, places = ""] = /^([A-Za-z]\w*)((?:\[\d+\])*)$/.exec(part) ?? [];
    return name === undefined ? [undefined] : [name, ...[...places.matchAll(/\d+/g)].map(([digits]) => Number(digits))];
  });
  const whole = parts.filter((part) => part !== undefined);
  return whole.length === parts.length ? whole : undefined;
}
