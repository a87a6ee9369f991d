import type { MethodName } from "@cloudwire/proto/methods";
import { isSameInstance } from "@cloudwire/proto/provider-ids";
import type { Check, CheckContext, FixtureName } from "../../suite/check.ts";
import { fail, show } from "../../suite/expect.ts";
import type { HookName } from "../../suite/hooks.ts";
import type { Called } from "../../endpoint/caller.ts";
import { property } from "../../contract/field-rules.ts";
import { methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { codeName } from "../../endpoint/status.ts";
import { disruptive, during, lookUntil } from "./broken-cloud.ts";

/** A way in which a cloud fails, and what a provider may say of it. */
interface Failure {
  readonly name: string;
  readonly hook: HookName;
  readonly what: string;
  readonly codes: readonly number[];
  readonly why: string;
}

const failures = {
  auth: {
    name: "auth",
    hook: "credRevoke",
    what: "the cloud refuses the credentials",
    codes: [7, 16],
    why: "Credentials expire for all calls at the same time: a false absence then deletes all Nodes of a cluster. Usually a 401 falls into the branch for 404.",
  },
  outage: {
    name: "outage",
    hook: "cloudBlock",
    what: "the cloud cannot be reached",
    codes: [4, 14],
    why: "An outage of the cloud's API must not become one of every workload. Usually an empty answer after a time-out is taken for the truth.",
  },
  throttle: {
    name: "throttle",
    hook: "cloudFault429",
    what: "the cloud throttles",
    codes: [8],
    why: "Large clusters are throttled daily. Usually the error of one page is swallowed, and what it would have shown is missing.",
  },
} as const satisfies Readonly<Record<string, Failure>>;

/** A question to which "absent" can be a wrong answer. */
interface Question {
  readonly id: string;
  readonly method: MethodName;
  readonly capability: string;
  readonly fixtures: readonly FixtureName[];
  readonly rules: readonly string[];
  readonly what: string;
  readonly request: (context: CheckContext) => object;
}

/** The configured machine, and more provider IDs: read now, not remembered. */
const machineRequest = ({ callContext, fixtures }: CheckContext, more: readonly string[]): object => {
  const { providerId = "", nodeName = "" } = fixtures.instance ?? {};
  const others = more.map((id) => ({ name: "conformance-absent", providerId: id }));
  return { context: callContext, nodes: [{ name: nodeName, providerId }, ...others], maxDataAge: {} };
};

const machineQuestion: Question = {
  id: "inst.absent",
  method: "BatchGetInstances",
  capability: "instances",
  fixtures: ["instance"],
  rules: ["ABS-2"],
  what: "machines",
  request: (context) => {
    const { absentProviderId } = context.fixtures;
    return machineRequest(context, absentProviderId === undefined ? [] : [absentProviderId]);
  },
};

const questions: readonly Question[] = [
  machineQuestion,
  {
    id: "lb.absent",
    method: "GetLoadBalancer",
    capability: "load_balancers",
    fixtures: [],
    rules: ["ABS-1", "LB-11"],
    what: "load balancers",
    request: (context) => sampleRequest("GetLoadBalancer", context),
  },
  {
    id: "vol.absent",
    method: "BatchGetVolumes",
    capability: "volumes",
    fixtures: ["absentVolumeHandle"],
    rules: ["VOL-1", "ABS-2"],
    what: "volumes",
    request: ({ callContext, fixtures, info }) => {
      const [driver = ""] = info.capabilities?.volumes?.csiDrivers ?? [];
      const value = { driver: fixtures.volume?.driver ?? driver, volumeHandle: fixtures.absentVolumeHandle ?? "" };
      const volumes = [{ name: "conformance-absent", source: { $case: "csi", value } }];
      return { context: callContext, volumes, maxDataAge: {} };
    },
  },
];

/** One outcome as it is evaluated: `absent`, `unknown 14 CLOUD_UNAVAILABLE`. */
interface Said {
  readonly absent: boolean;
  readonly refused: boolean;
  readonly line: string;
}

/** What the outcomes of an answer say. */
const said = (called: Called<unknown>, codes: readonly number[]): readonly Said[] => {
  if (called.kind === "error")
    return [{ absent: false, refused: codes.includes(called.error.code), line: called.exchange.response }];
  if (called.kind === "broken") return [{ absent: false, refused: false, line: called.broken }];
  const results: unknown = property(called.response, "results") ?? [called.response];
  return (Array.isArray(results) ? results : []).map((result: unknown) => {
    const outcome = property(result, "outcome");
    const kind = property(outcome, "$case");
    const value = property(outcome, "value");
    const code = property(value, "code");
    const refused = kind === "unknown" && typeof code === "number" && codes.includes(code);
    const line = kind === "unknown" ? `unknown ${show(code)} ${show(property(value, "reason"))}` : String(kind);
    return { absent: kind === "absent", refused, line };
  });
};

/** Asks until all is refused; whatever is absent meanwhile is the finding. */
const expectRefused = async (context: CheckContext, question: Question, failure: Failure): Promise<void> => {
  const { done, value } = await lookUntil(context, async () => {
    const called = await context.caller.call(methodsByName[question.method], question.request(context));
    const outcomes = said(called, failure.codes);
    if (outcomes.some(({ absent }) => absent))
      fail({
        message: `${question.method} says "absent" while ${failure.what}`,
        expected: `an error ${failure.codes.map(codeName).join(" or ")}, or items unknown with it`,
        got: outcomes.map(({ line }) => line).join("\n"),
        exchange: called.exchange,
      });
    return { done: outcomes.length > 0 && outcomes.every(({ refused }) => refused), value: { called, outcomes } };
  });
  if (!done)
    fail({
      message: `${question.method} does not say within a minute that ${failure.what}`,
      expected: `an error ${failure.codes.map(codeName).join(" or ")}, or items unknown with it`,
      got: value.outcomes.map(({ line }) => line).join("\n"),
      exchange: value.called.exchange,
    });
};

const absenceCheck = (question: Question, failure: Failure): Check => ({
  ...disruptive,
  id: `${question.id}.${failure.name}`,
  title: `while ${failure.what}, ${question.what} are never absent: it says so instead`,
  rules: question.rules,
  why: failure.why,
  capability: question.capability,
  fixtures: question.fixtures,
  hooks: [failure.hook],
  run: (context) => during(context, failure.hook, () => expectRefused(context, question, failure)),
});

const zoneFailure: Failure = {
  name: "zone",
  hook: "zoneOutage",
  what: "the machine's zone cannot be read",
  codes: [14],
  why: "",
};

const zoneOf = ({ fixtures }: CheckContext): string => fixtures.instance?.zone ?? "";

const zoneChecks: readonly Check[] = [
  {
    ...disruptive,
    id: "inst.absent.zone",
    title: "while a zone cannot be read, its machines are never absent",
    rules: ["ABS-2"],
    why: "A zone that is cut off is full of machines that run. Usually a multi-zone client leaves out what it cannot reach.",
    capability: "instances",
    fixtures: ["instance"],
    hooks: ["zoneOutage"],
    run: (context) => {
      const zone = { CONFORMANCE_ZONE: zoneOf(context) };
      // Only instances in the zone are uncertain: the provider may know that an instance never existed.
      const asked: Question = { ...machineQuestion, request: (asking) => machineRequest(asking, []) };
      return during(context, "zoneOutage", () => expectRefused(context, asked, zoneFailure), zone);
    },
  },
  {
    ...disruptive,
    id: "list.unreachable",
    title: "while a zone cannot be read, a list names it and is not complete, or fails",
    rules: ["LST-4", "ABS-5"],
    why: "A list that claims to be whole proves absences: every machine of the zone would be one.",
    capability: "instances.list",
    fixtures: ["instance"],
    hooks: ["zoneOutage"],
    run: (context) =>
      during(context, "zoneOutage", () => expectIncomplete(context), { CONFORMANCE_ZONE: zoneOf(context) }),
  },
];

/** Walks the list until it shows that it is not whole. */
const expectIncomplete = async (context: CheckContext): Promise<void> => {
  const providerId = context.fixtures.instance?.providerId ?? "";
  const { done, value } = await lookUntil<Called<unknown>>(context, async () => {
    let [pageToken, unreachable, has] = ["", 0, false];
    for (;;) {
      const request = { context: context.callContext, pageSize: 0, pageToken };
      const called = await context.caller.call(methodsByName.ListInstances, request);
      if (called.kind !== "ok") return { done: called.kind === "error" && called.error.code === 14, value: called };
      const instances: unknown = property(called.response, "instances");
      has ||= (Array.isArray(instances) ? instances : []).some((one) =>
        isSameInstance(String(property(one, "providerId")), providerId),
      );
      const places: unknown = property(called.response, "unreachable");
      unreachable += Array.isArray(places) ? places.length : 0;
      const token: unknown = property(called.response, "nextPageToken");
      pageToken = typeof token === "string" ? token : "";
      if (pageToken !== "") continue;
      const complete = property(called.response, "complete") === true;
      if (!has && (complete || unreachable === 0))
        fail({
          message: "the list lacks the zone's machines and does not say so",
          expected: "complete=false and the zone in unreachable",
          got: show({ complete, unreachable }),
          exchange: called.exchange,
        });
      return { done: !complete && unreachable > 0, value: called };
    }
  });
  if (!done)
    fail({
      message: "the list does not report within a minute that a zone cannot be read",
      expected: "complete=false and the zone in unreachable",
      got: value.exchange.response,
      exchange: value.exchange,
    });
};

/** Lists from which absences are concluded. */
const lists = [
  { id: "list.outage", method: "ListInstances", capability: "instances.list", rules: ["LST-4", "ABS-2"] },
  { id: "lb.list.outage", method: "ListLoadBalancers", capability: "load_balancers.list", rules: ["LB-12"] },
  { id: "route.list.outage", method: "ListRoutes", capability: "routes", rules: ["RTE-1"] },
] as const satisfies readonly {
  readonly id: string;
  readonly method: MethodName;
  readonly capability: string;
  readonly rules: readonly string[];
}[];

const listChecks: readonly Check[] = lists.map(({ id, method, capability, rules }) => ({
  ...disruptive,
  id,
  title: `while the cloud cannot be reached, ${method} fails and is not an empty list`,
  rules,
  why: "From an empty list follows that all is gone. Usually an error of the first page is logged, and what was read so far is answered.",
  capability,
  hooks: ["cloudBlock"],
  run: (context) =>
    during(context, "cloudBlock", async () => {
      const { codes } = failures.outage;
      const { done, value } = await lookUntil(context, async () => {
        const called = await context.caller.call(methodsByName[method], sampleRequest(method, context));
        return { done: called.kind === "error" && includes(codes, called.error.code), value: called };
      });
      if (!done)
        fail({
          message: `${method} does not fail while the cloud cannot be reached`,
          expected: codes.map(codeName).join(" or "),
          got: value.exchange.response,
          exchange: value.exchange,
        });
    }),
}));

const includes = (codes: readonly number[], code: number): boolean => codes.includes(code);

/** Where an error of the cloud could become an absence. */
export const absenceChecks: readonly Check[] = [
  ...questions.flatMap((question) => Object.values(failures).map((failure) => absenceCheck(question, failure))),
  ...zoneChecks,
  ...listChecks,
];
