import { styleText } from "node:util";
import type { Finding } from "../suite/check.ts";
import type { CheckResult, ProfileResult, Report, Verdict } from "./report.ts";

/** Colors text, or leaves it alone. */
export type Paint = (style: "bold" | "dim" | "green" | "red" | "yellow", text: string) => string;

/** No colors. */
const plain: Paint = (_style, text) => text;
/** Colors of a terminal. */
export const colored: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** The report for people: a line a profile, and what failed with all that helps to mend it. */
export const pretty = (report: Report, paint: Paint = plain): string => {
  const { provider, results } = report;
  const shown = results.filter(({ verdict }) => shownKinds.has(verdict.kind));
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

const shownKinds = new Set<Verdict["kind"]>(["fail", "kit-error", "advisory", "known-fail", "flaky"]);

const marks: Readonly<Record<Verdict["kind"], readonly [mark: string, style: Parameters<Paint>[0]]>> = {
  pass: ["PASS", "green"],
  fail: ["FAIL", "red"],
  blocked: ["BLOCKED", "yellow"],
  skip: ["SKIP", "dim"],
  "known-fail": ["KNOWN TO FAIL", "yellow"],
  flaky: ["FLAKY", "yellow"],
  advisory: ["ADVICE", "yellow"],
  "kit-error": ["KIT ERROR", "red"],
};

/** `FAIL err.info.present  every error has …` */
export const verdictLine = ({ id, title, verdict, rules }: CheckResult, paint: Paint): string => {
  const [mark, style] = marks[verdict.kind];
  return `${paint(style, mark)} ${paint("bold", id)}  ${title} ${paint("dim", `[${rules.join(", ")}]`)}`;
};

const resultLines = (result: CheckResult, paint: Paint): string => {
  const { verdict, repeat } = result;
  const lines = [verdictLine(result, paint)];
  if ("finding" in verdict) lines.push(...findingLines(verdict.finding));
  if (verdict.kind === "kit-error") lines.push(indent(`the kit broke, not the provider: ${verdict.message}`));
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
          `call      ${exchange.path}, ${exchange.requestBytes} bytes, ${exchange.elapsedMs.toFixed(1)} ms: ${exchange.answer}`,
        ),
      ]),
];

const indent = (text: string): string => `  ${text.replaceAll("\n", "\n  ")}`;

/** `core: conformant, 51 passed` */
const profileLine = (profile: ProfileResult, paint: Paint): string => {
  const { name, verdict, passed, failed, blocked, skipped, excused } = profile;
  const style = verdict === "conformant" ? "green" : verdict === "partial" ? "yellow" : "red";
  const counts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(excused > 0 ? [`${excused} excused`] : []),
  ];
  return `${paint("bold", name)}: ${paint(style, verdict)}, ${counts.join(", ")}`;
};

/** Which commands lead on from here. */
const nextSteps = (results: readonly CheckResult[], paint: Paint): readonly string[] => {
  const failed = results.find(({ verdict }) => verdict.kind === "fail");
  const unconfigured = results.some(({ verdict }) => verdict.kind === "skip" && verdict.reason === "fixture");
  return [
    ...(failed === undefined
      ? []
      : [`what usually fails a check, and its rules in full: cloudwire-conformance explain ${failed.id}`]),
    ...(unconfigured ? ["what a configuration can tell: cloudwire-conformance init"] : []),
  ].map((line) => paint("dim", line));
};

/** Why checks were left out, a line a reason. */
const skippedLines = (results: readonly CheckResult[], paint: Paint): readonly string[] => {
  const reasons = results.flatMap(({ verdict }) => {
    if (verdict.kind === "skip" && verdict.reason !== "user") return [`skipped: ${verdict.detail}`];
    return verdict.kind === "blocked" ? [`blocked by: ${verdict.by}`] : [];
  });
  return [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) =>
    paint("dim", `${length} ${reason}`),
  );
};

const auth = "inst.absent.auth";
const outage = "inst.absent.outage";

/**
 * Whether anybody has seen that the provider calls no machine absent while the cloud refuses its credentials, or is away. It is what a user's machines
 * hang on, and told of every provider of machines, also where nobody looked. Undefined: it is none.
 */
export const absenceLine = ({ provider, results }: Pick<Report, "provider" | "results">): string | undefined => {
  if (!provider.capabilities.includes("instances")) return undefined;
  return `absence under refused credentials: ${tested(results, auth)}, under an outage: ${tested(results, outage)}`;
};

/** A check that passed or failed has looked. */
const tested = (results: readonly CheckResult[], wanted: string): string => {
  const kind = results.find(({ id }) => id === wanted)?.verdict.kind;
  if (kind === "pass") return "tested";
  return kind === "fail" || kind === "known-fail" || kind === "flaky" ? "tested, and wrong" : "NOT tested";
};
