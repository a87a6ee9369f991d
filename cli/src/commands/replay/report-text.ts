import { printable } from "../../terminal/printable.ts";
import type { Difference, PlayReport } from "./play.ts";
import type { ServeReport } from "./recorded-server.ts";

/** What came of playing a recording, for people. */
export function playText({ provider, played, compared, uncompared, differences, digest }: PlayReport): string {
  const calls = differences.map(({ call }) => call);
  const found = new Set(calls).size;
  const verdict =
    found === 0 ? "no difference" : `${found} ${found === 1 ? "call was" : "calls were"} answered otherwise`;
  return [
    `${played} calls of provider ${printable(provider)} played, ${compared} compared: ${verdict}`,
    ...uncompared.map(({ call, method, why }) => `not compared: call ${call}, ${method}: ${why}`),
    ...differences.flatMap(differenceLines),
    ...(found === 0 ? [`answers: ${digest}`] : []),
    "",
  ].join("\n");
}

function differenceLines({ call, line, method, field, wanted, got }: Difference): readonly string[] {
  return [
    `call ${call} (line ${line}), ${method}: ${printable(field)}`,
    `  wanted: ${shown(wanted)}`,
    `  got:    ${shown(got)}`,
  ];
}

/** What was asked of a recording that was served, for people. */
export function serveText({ answered, unknown }: ServeReport): string {
  const sum = Object.values(answered).reduce((total, count) => total + count, 0);
  const counts = Object.entries(answered).map(([method, count]) => `${method} ${count}`);
  return [
    `${sum} requests answered${counts.length === 0 ? "" : ` (${counts.join(", ")})`}, ${unknown.length} not in the recording`,
    ...new Set(unknown.map(printable)),
    "",
  ].join("\n");
}

function shown(value: unknown): string {
  return value === undefined ? "not there" : printable(JSON.stringify(value));
}
