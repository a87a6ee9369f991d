import { styleText } from "node:util";
import type { Finding } from "../suite/check.ts";
import type { CheckResult, ProfileResult, Report, CheckOutcome } from "./report.ts";

/** Colors text, or leaves it alone. */
export type Paint = (style: "bold" | "dim" | "green" | "red" | "yellow", text: string) => string;

/** No colors. */
const plain: Paint = (_style, text) => text;
/** Colors of a terminal. */
export const colored: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** The report for people: a line a profile, and each failure with the details needed to fix it. */
export const pretty = (report: Report, paint: Paint = plain): string => {
  const { provider, results } = report;
  const shown = results.filter(({ result }) => shownKinds.has(result.kind));
  const lines = [
    ...shown.flatMap((result) => [resultLines(result, paint), ""]),
    ...report.profiles.map((profile) => profileLine(profile, paint)),
    ...[absenceLine(report) ?? []].flat(),
    ...skippedLines(results, paint),
    ...nextSteps(results, paint),
    paint(
      "dim",
      `${provider.name} ${provider.version}, contract ${provider.contractMajor}.${provider.contractMinor} · level ${report.level} · kit ${report.kit.version} · seed ${report.seed} · ${(report.elapsedMs / 1_000).toFixed(1)} s`,
    ),
  ];
  return `${lines.join("\n")}\n`;
};

const shownKinds = new Set<CheckOutcome["kind"]>(["fail", "error", "advisory", "known-fail", "flaky"]);

const marks: Readonly<Record<CheckOutcome["kind"], readonly [mark: string, style: Parameters<Paint>[0]]>> = {
  pass: ["PASS", "green"],
  fail: ["FAIL", "red"],
  blocked: ["BLOCKED", "yellow"],
  skip: ["SKIP", "dim"],
  "known-fail": ["KNOWN TO FAIL", "yellow"],
  flaky: ["FLAKY", "yellow"],
  advisory: ["ADVICE", "yellow"],
  error: ["KIT ERROR", "red"],
};

/** `FAIL err.info.present  every error has …` */
export const resultLine = ({ id, title, result, rules }: CheckResult, paint: Paint): string => {
  const [mark, style] = marks[result.kind];
  return `${paint(style, mark)} ${paint("bold", id)}  ${title} ${paint("dim", `[${rules.join(", ")}]`)}`;
};

const resultLines = (check: CheckResult, paint: Paint): string => {
  const { result, repeat } = check;
  const lines = [resultLine(check, paint)];
  if ("finding" in result) lines.push(...findingLines(result.finding));
  if (result.kind === "error") lines.push(indent(`internal error of the kit: ${result.message}`));
  if (repeat !== undefined) lines.push(indent(`repeat    ${repeat}`));
  return lines.join("\n");
};

/** What was found, one line a fact. */
export const findingLines = ({ message, expected, got, exchange }: Finding): readonly string[] => [
  indent(message),
  ...(expected === undefined ? [] : [indent(`expected  ${expected}`)]),
  ...(got === undefined ? [] : [indent(`got       ${got.replaceAll("\n", "\n          ")}`)]),
  ...(exchange === undefined
    ? []
    : [
        indent(
          `call      ${exchange.path}, ${exchange.requestBytes} bytes, ${exchange.elapsedMs.toFixed(1)} ms: ${exchange.response}`,
        ),
      ]),
];

const indent = (text: string): string => `  ${text.replaceAll("\n", "\n  ")}`;

/** `core: conformant, 51 passed` */
const profileLine = (profile: ProfileResult, paint: Paint): string => {
  const { name, result, passed, failed, blocked, skipped, knownFailures } = profile;
  const style = result === "conformant" ? "green" : result === "partial" ? "yellow" : "red";
  const counts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(knownFailures > 0 ? [`${knownFailures} known failures`] : []),
  ];
  return `${paint("bold", name)}: ${paint(style, result)}, ${counts.join(", ")}`;
};

/** Which commands lead on from here. */
const nextSteps = (results: readonly CheckResult[], paint: Paint): readonly string[] => {
  const failed = results.find(({ result }) => result.kind === "fail");
  const unconfigured = results.some(({ result }) => result.kind === "skip" && result.reason === "fixture");
  return [
    ...(failed === undefined
      ? []
      : [`what usually fails a check, and its rules in full: cloudwire-conformance explain ${failed.id}`]),
    ...(unconfigured ? ["what a configuration can set: cloudwire-conformance init"] : []),
  ].map((line) => paint("dim", line));
};

/** Why checks were left out, a line a reason. */
const skippedLines = (results: readonly CheckResult[], paint: Paint): readonly string[] => {
  const reasons = results.flatMap(({ result }) => {
    if (result.kind === "skip" && result.reason !== "user") return [`skipped: ${result.detail}`];
    return result.kind === "blocked" ? [`blocked by: ${result.by}`] : [];
  });
  return [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) =>
    paint("dim", `${length} ${reason}`),
  );
};

const auth = "inst.absent.auth";
const outage = "inst.absent.outage";

/**
 * Whether the run verified that the provider reports no instance as absent while the cloud refuses its credentials or is unreachable. A user's instances
 * depend on it, so it is printed for every provider of instances, tested or not. Undefined: it is none.
 */
export const absenceLine = ({ provider, results }: Pick<Report, "provider" | "results">): string | undefined => {
  if (!provider.capabilities.includes("instances")) return undefined;
  return `absence under refused credentials: ${tested(results, auth)}, under an outage: ${tested(results, outage)}`;
};

/** A check that passed or failed has looked. */
const tested = (results: readonly CheckResult[], wanted: string): string => {
  const kind = results.find(({ id }) => id === wanted)?.result.kind;
  if (kind === "pass") return "tested";
  return kind === "fail" || kind === "known-fail" || kind === "flaky" ? "tested, and wrong" : "NOT tested";
};
