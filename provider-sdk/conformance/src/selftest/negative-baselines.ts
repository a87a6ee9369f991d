import { setTimeout as wait } from "node:timers/promises";
import { ErrorInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { methodRules } from "@cloudwire/proto/methods";
import { methods, serviceName } from "../contract/methods.ts";
import { NotReadyError } from "../endpoint/reach.ts";
import type { CheckResult, Report } from "../report/report.ts";
import { seededRandom } from "../suite/plan.ts";
import type { RunOptions } from "../suite/run-conformance.ts";
import type { Intercept, ProxiedReply } from "./mutant-proxy.ts";
import { bareError, isCall, okReply } from "./mutant.ts";
import { randomResponses } from "./random-message.ts";
import { type SelftestTarget, runBehind } from "./run-mutant.ts";

/** How a run on a negative baseline ended. */
export type BaselineEnd =
  | { readonly kind: "report"; readonly report: Report; readonly elapsedMs: number }
  /** The kit says that no provider is ready: exit code 3. */
  | { readonly kind: "not ready"; readonly message: string; readonly elapsedMs: number };

/** A provider that is wrong in so many ways that no set of checks can be named: defines the minimum that the kit has to find. */
export interface NegativeBaseline {
  readonly name: string;
  readonly fault: string;
  readonly intercept: () => Intercept;
  readonly options?: Partial<RunOptions>;
  /** What is right soon or never: checks wait little for it. */
  readonly isImpatient?: true;
  /** What the kit did not do that it has to; nothing: all is well. */
  readonly problems: (end: BaselineEnd) => readonly string[];
}

const isHandshake = (request: Parameters<Intercept>[0]): boolean => isCall(request, methods.getProviderInfo.name);

/** A provider that shakes hands as it should, once: so that the checks get to run. */
const afterHandshake = (answer: Intercept): Intercept => {
  let hands = 0;
  return async (request, next) => (isHandshake(request) && hands++ === 0 ? next(request) : answer(request, next));
};

const notReadyWithin =
  (ms: number) =>
  (end: BaselineEnd): readonly string[] => [
    ...(end.kind === "not ready" ? [] : ["the kit takes it for a provider that is ready"]),
    ...(end.elapsedMs <= ms ? [] : [`the kit took ${Math.round(end.elapsedMs)} ms to give up`]),
  ];

const categoryOf = ({ id }: CheckResult): string => id.split(".")[0] ?? id;

/** Categories of which checks ran and none failed or was blocked. */
const unfailedCategories = ({ results }: Report): readonly string[] => {
  const evaluated = results.filter(({ result }) => result.kind !== "skip" && result.kind !== "advisory");
  const failed = new Set(evaluated.filter(({ result }) => result.kind === "fail").map(categoryOf));
  return [...new Set(evaluated.map(categoryOf))].filter((category) => !failed.has(category));
};

/** What holds for any provider: the kit neither breaks nor says that it is conformant. */
const evaluated =
  (more: (report: Report) => readonly string[] = () => []) =>
  (end: BaselineEnd): readonly string[] => {
    if (end.kind === "not ready") return [`no check ran: ${end.message}`];
    const { results, profiles } = end.report;
    const broken = results.filter(({ result }) => result.kind === "error").map(({ id }) => id);
    const reached = profiles.filter(({ result }) => result === "conformant").map(({ name }) => name);
    return [
      ...(broken.length === 0 ? [] : [`internal error of the kit in ${broken.join(", ")}`]),
      ...(reached.length === 0 ? [] : [`it is said to be conformant to ${reached.join(", ")}`]),
      ...more(end.report),
    ];
  };

const failsIn = (report: Report, id: string): readonly string[] =>
  report.results.some((result) => result.id === id && result.result.kind === "fail") ? [] : [`${id} does not fail`];

/** Of a provider that does not work now and then, as every cloud. */
const unavailable = (): ProxiedReply => {
  const info = ErrorInfo.encode({ reason: "PROVIDER_STARTING", domain: "cloudprovider.v1", metadata: {} }).finish();
  const details = [{ typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value: Buffer.from(info) }];
  const status = Status.encode({ code: 14, message: "not yet", details }).finish();
  const { headers, body, trailers } = bareError(14, "not yet");
  return {
    headers,
    body,
    trailers: { ...trailers, "grpc-status-details-bin": Buffer.from(status).toString("base64") },
  };
};

const flakyShare = 0.01;
const isRead = (path: string): boolean =>
  Object.entries(methodRules).some(
    ([name, rule]) => path === `/${serviceName}/${name}` && !rule.change && !rule.stream,
  );

const slowMs = 2_000;

/** Providers that show that the kit gives nothing away and does not hang. */
export const negativeBaselines: readonly NegativeBaseline[] = [
  {
    name: "mute",
    fault: "takes calls and never answers",
    intercept: () => async () => "hang",
    options: { startTimeoutMs: 1_500 },
    problems: notReadyWithin(30_000),
  },
  {
    name: "blank",
    fault: "answers OK and a message without fields to everything",
    intercept: () => async () => okReply(Buffer.alloc(0)),
    options: { startTimeoutMs: 1_500 },
    problems: notReadyWithin(30_000),
  },
  {
    name: "no-man",
    fault: "answers UNIMPLEMENTED to everything",
    intercept: () => async () => bareError(12, "no"),
    options: { startTimeoutMs: 1_500 },
    problems: notReadyWithin(30_000),
  },
  {
    name: "yes-man",
    fault: "shakes hands once, then answers OK and a message without fields to everything",
    isImpatient: true,
    intercept: () => afterHandshake(async () => okReply(Buffer.alloc(0))),
    problems: evaluated((report) => {
      const left = unfailedCategories(report);
      return left.length === 0 ? [] : [`nothing fails in ${left.join(", ")}`];
    }),
  },
  {
    name: "turns-no-man",
    fault: "shakes hands once, then answers UNIMPLEMENTED to everything",
    isImpatient: true,
    intercept: () => afterHandshake(async () => bareError(12, "no")),
    problems: evaluated((report) =>
      report.results.some(({ result }) => result.kind === "blocked") ? [] : ["nothing is blocked"],
    ),
  },
  {
    name: "liar",
    fault: "claims everything and serves the handshake and the status",
    isImpatient: true,
    intercept: () => async (request, next) =>
      request.path.startsWith(`/${serviceName}/`) && !/\/GetProvider(?:Info|Status)$/.test(request.path)
        ? bareError(12, "not here")
        : next(request),
    problems: evaluated((report) => failsIn(report, "info.caps.truthful")),
  },
  {
    name: "random",
    fault: "answers any message that the types allow",
    isImpatient: true,
    intercept: () => {
      const answer = randomResponses(seededRandom(1, "random"));
      return afterHandshake(async (request, next) => {
        const bytes = answer(request.path);
        return bytes === undefined ? next(request) : okReply(bytes);
      });
    },
    problems: evaluated(),
  },
  {
    name: "slow",
    fault: "takes two seconds more for every call",
    intercept: () => async (request, next) => {
      await wait(slowMs);
      return next(request);
    },
    // Side by side, so that all together take little longer than one: they wait.
    options: {
      level: "R",
      parallel: 64,
      run: ["info.*.*", "health.**", "status.*", "inst.**", "err.frame.*", "val.scope.*"],
    },
    problems: evaluated(),
  },
  {
    name: "flaky",
    fault: "answers UNAVAILABLE to one read in a hundred",
    intercept: () => {
      const random = seededRandom(1, "flaky");
      return async (request, next) => (isRead(request.path) && random() < flakyShare ? unavailable() : next(request));
    },
    options: { timeFactor: 3 },
    problems: (end) =>
      end.kind === "not ready"
        ? [`no check ran: ${end.message}`]
        : end.report.results
            .filter(({ result }) => result.kind === "fail" || result.kind === "blocked")
            .map(({ id }) => `${id} fails, though reads may be repeated (TIM-3)`),
  },
];

/** The outcome of a negative baseline. */
export interface BaselineOutcome {
  readonly name: string;
  readonly fault: string;
  /** What the kit did not do that it has to; nothing: all is well. */
  readonly problems: readonly string[];
  readonly elapsedMs: number;
}

/** Checks that wait on such a provider need not wait long: that they fail is what is wanted. */
const baselineTimeFactor = 0.5;
const baselinePatience = 0.02;

/** A start is waited for as long as ever. */
const impatient = ({ slowFactor, startTimeoutMs }: SelftestTarget) => ({
  slowFactor: slowFactor * baselinePatience,
  startTimeoutMs: startTimeoutMs / baselinePatience,
  timeFactor: baselineTimeFactor / baselinePatience,
});

/** Runs the kit on a negative baseline, and returns what it has to do and does not. */
export const runNegativeBaseline = async (
  baseline: NegativeBaseline,
  target: SelftestTarget,
): Promise<BaselineOutcome> => {
  const end = await endOn(baseline, target);
  const { name, fault } = baseline;
  return { name, fault, problems: baseline.problems(end), elapsedMs: end.elapsedMs };
};

const endOn = async (baseline: NegativeBaseline, target: SelftestTarget): Promise<BaselineEnd> => {
  const startedMs = performance.now();
  const elapsed = (): number => performance.now() - startedMs;
  try {
    const report = await runBehind({ intercept: baseline.intercept() }, target, {
      timeFactor: baselineTimeFactor,
      ...(baseline.isImpatient === true && impatient(target)),
      ...baseline.options,
    });
    return { kind: "report", report, elapsedMs: elapsed() };
  } catch (error) {
    if (!(error instanceof NotReadyError)) throw error;
    return { kind: "not ready", message: error.message, elapsedMs: elapsed() };
  }
};

/** A line for a negative baseline that passed, and what is wrong with others. */
export const baselineLines = ({ name, fault, problems }: BaselineOutcome): string =>
  [
    `${(problems.length === 0 ? "HELD" : "GAVE WAY").padEnd(9)}  ${name}  ${fault}`,
    ...problems.map((problem) => `  ${problem}`),
    "",
  ].join("\n");
