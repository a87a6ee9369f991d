import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { errorProblem, expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { property } from "../../contract/field-rules.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { provocableMethods, provokeAll, type Provoked } from "./provoked.ts";

const base = { level: "S", profile: "core", timeoutMs: 60_000 } as const;

/** Methods whose request has a cluster ID: all but the handshake and the status. */
const contextual = (context: CheckContext): readonly MethodName[] =>
  provocableMethods(context).filter((name) => name !== "GetProviderInfo" && name !== "GetProviderStatus");

const withContext = (name: MethodName, context: CheckContext, callContext: unknown) =>
  context.caller.call(methodsByName[name], { ...sampleRequest(name, context), context: callContext });

/** Why a broken request was not refused as it has to be; undefined: it was. */
const refusalProblem = ({ called, violation }: Provoked): string | undefined => {
  const { path, reasons } = violation;
  switch (called.kind) {
    case "broken":
      return called.broken;
    case "error":
      return errorProblem(called.error, { codes: [3], reasons }) === undefined ? undefined : called.exchange.response;
    case "ok":
      return itemReasons(called).some((reason) => reasons.includes(reason) || (/\[0\]/.test(path) && reason !== ""))
        ? undefined
        : "is served";
  }
  return called satisfies never;
};

/** Reasons of the items of a batch's answer. */
const itemReasons = (called: Called<unknown>): readonly string[] => {
  const results: unknown = called.kind === "ok" ? property(called.response, "results") : [];
  if (!Array.isArray(results)) return [];
  return results.flatMap((result: unknown) => {
    const outcome = property(result, "outcome");
    const kind = property(outcome, "$case");
    const reason = property(property(outcome, "value"), "reason");
    return (kind === "unknown" || kind === "error") && typeof reason === "string" ? [reason] : [];
  });
};

const kebab = (name: string): string => name.replace(/(?<!^)([A-Z])/g, "-$1").toLowerCase();

/** For each method: every rule of its request's fields is kept to. */
const fieldChecks: readonly Check[] = Object.entries(methodRules)
  .filter(([name, { stream }]) => !stream && name !== "GetProviderStatus")
  .map(([name, { capability }]) => ({
    ...base,
    id: `val.fields.${kebab(name)}`,
    title: `${name} refuses each field that breaks its rule`,
    rules: ["LIM-1", "ERR-5", "EVO-3"],
    why: "An unvalidated request reaches the cloud as something the user did not request, or only in part.",
    capability,
    run: async (context: CheckContext) => {
      const mine = (await provokeAll(context)).filter(({ method }) => method === name);
      if (mine.length === 0) throw new CheckSkipped("validate_only is not claimed: a call could change the cloud");
      const found = mine.flatMap((provoked) => {
        const problem = refusalProblem(provoked);
        const { path, what, reasons } = provoked.violation;
        return problem === undefined
          ? []
          : [{ text: `${path} ${what}: ${problem}; right is ${reasons.join(" or ")}`, provoked }];
      });
      const [first] = found;
      expectNone(
        found.map(({ text }) => text),
        "fields are not refused, or not as they have to be",
        first === undefined ? {} : { exchange: first.provoked.called.exchange },
      );
    },
  }));

/** Texts that are dangerous in paths, queries, logs and shells. */
const dangerous = ["../../etc/passwd", "a'b", 'a"b', "a\nb", "a%00b", "$(id)", "{{7*7}}", "a b;c", "\u202Eabc"];

/** What requests are checked for. */
export const valChecks: readonly Check[] = [
  {
    ...base,
    id: "val.cluster.missing",
    title: "a request without cluster is refused, with the path of the cluster's id",
    rules: ["SHAPE-6", "ERR-5"],
    why: "A default cluster means that two clusters delete each other's load balancers.",
    run: async (context) => {
      for (const name of contextual(context)) {
        const called = await withContext(name, context, { scopeId: context.info.scopeId, cluster: { id: "" } });
        const wanted = { codes: [3], reasons: ["FIELD_MISSING"], field: "context.cluster.id" };
        expectError(called, wanted, `${name} without cluster`);
      }
    },
  },
  {
    ...base,
    id: "val.scope.mismatch",
    title: "another scope is refused with SCOPE_MISMATCH, by reads and by changes",
    rules: ["SHAPE-7"],
    why: "In another account nothing exists: without this check every Node would look gone.",
    run: async (context) => {
      for (const name of contextual(context)) {
        const called = await withContext(name, context, { ...context.callContext, scopeId: "another-scope" });
        expectError(called, { codes: [9], reasons: ["SCOPE_MISMATCH"] }, `${name} for another scope`);
      }
    },
  },
  ...fieldChecks,
  {
    ...base,
    id: "val.size.max-names",
    title: "a node name of 253 bytes and a provider ID of 1 KiB are taken whole",
    rules: ["LIM-1"],
    why: "A name that is cut names another machine.",
    capability: "instances",
    run: async (context) => {
      const prefix = context.info.providerIdPrefixes[0] ?? "";
      const nodes = [
        { name: "n".repeat(253) },
        { name: "n", providerId: `${prefix}${"i".repeat(1_024 - prefix.length)}` },
      ];
      const called = await context.caller.call(methods.batchGetInstances, { context: context.callContext, nodes });
      const { response } = expectOk(called, "the longest names are refused");
      if (response.results.length !== nodes.length)
        fail({ message: "not every item is answered", got: show(response.results), exchange: called.exchange });
    },
  },
  {
    ...base,
    id: "val.utf8",
    title: "text of several bytes a character survives, and bytes that are no UTF-8 do not end the connection",
    rules: ["LIM-1", "TRN-8"],
    why: "Names of machines are written in all scripts.",
    capability: "instances",
    run: async (context) => {
      const name = "узел-節點-🚀";
      const request = { context: context.callContext, nodes: [{ name }] };
      expectOk(await context.caller.call(methods.batchGetInstances, request), `a node called ${name} is refused`);
      const bytes = Buffer.from(
        methods.batchGetInstances.requestType
          .encode(methods.batchGetInstances.requestType.fromPartial(request))
          .finish(),
      );
      bytes.set([0xff, 0xfe], bytes.indexOf(Buffer.from("узел")));
      const called = await context.caller.call(methods.batchGetInstances, request, { requestBytes: bytes });
      if (called.kind === "broken")
        fail({ message: "a name that is no UTF-8 is not answered", got: called.broken, exchange: called.exchange });
    },
  },
  {
    ...base,
    id: "val.injection",
    title: "names with quotes, line ends and path segments are taken as names",
    rules: ["LIM-1", "ERR-4"],
    why: "A name that becomes a path or a query asks the cloud something else.",
    capability: "instances",
    run: async (context) => {
      const nodes = dangerous.map((name) => ({ name }));
      const called = await context.caller.call(methods.batchGetInstances, { context: context.callContext, nodes });
      const { response } = expectOk(called, "one odd name fails the whole call");
      const found = response.results.flatMap(({ outcome }, index) =>
        outcome?.$case === "instance" ? [`${show(dangerous[index])} is found as ${outcome.value.providerId}`] : [],
      );
      expectNone(found, "names are taken for something else", { exchange: called.exchange });
    },
  },
];
