import type { MethodName } from "@cloudwire/proto/methods";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { property, ruleProblems } from "../../contract/field-rules.ts";
import { methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { violations } from "../../contract/violations.ts";
import {
  type Hint,
  instanceWatch,
  isEndMark,
  lookMs,
  type WatchKind,
  watchKinds,
  withoutTimes,
  withWatch,
} from "./watching.ts";

/** How long a refusal may take: it asks no cloud. */
const refusalMs = 5_000;
/** WAT-3. */
const heartbeatMs = 30_000;
const heartbeatGraceMs = 1_000;

/** Every check waits for a snapshot at most, and some for a heartbeat besides. */
const baseOf = (kind: WatchKind) =>
  ({ level: "R", profile: kind.profile, capability: kind.capability, timeoutMs: 120_000 }) as const;

/** What opening a watch with something wrong ends with. */
const refused = (kind: WatchKind, context: CheckContext, request: object) =>
  withWatch(kind, context, (watch) => watch.end(refusalMs), { request });

/** What a watch refuses: the same for machines and load balancers. */
const refusals = (kind: WatchKind): readonly Check[] => [
  {
    ...baseOf(kind),
    level: "S",
    id: `${kind.prefix}.val`,
    title: `${kind.method} refuses a request that breaks the rules of its fields, as other methods do`,
    rules: ["WAT-2", "LIM-1", "SHAPE-6"],
    why: "A stream that opens on a wrong request looks healthy and says nothing. Usually what checks requests was made for unary calls only.",
    run: async (context) => {
      const sample = sampleRequest(kind.method, context);
      const both = {
        path: "send_initial_events",
        what: "beside a resume token",
        reasons: ["FIELD_INVALID"],
        request: { ...sample, resumeToken: "t", sendInitialEvents: true },
      };
      for (const { path, what, reasons, request } of [
        ...violations(`cloudprovider.v1.${kind.method}Request`, sample),
        both,
      ])
        expectError(await refused(kind, context, request), { codes: [3], reasons }, `${path} ${what}`);
    },
  },
  {
    ...baseOf(kind),
    level: "S",
    id: `${kind.prefix}.scope`,
    title: `${kind.method} refuses another scope with SCOPE_MISMATCH`,
    rules: ["SHAPE-7"],
    why: "Hints about another account's objects look like the loss of all of one's own.",
    run: async (context) => {
      const request = { context: { ...context.callContext, scopeId: "another-scope" } };
      const called = await refused(kind, context, request);
      expectError(called, { codes: [9], reasons: ["SCOPE_MISMATCH"] }, "a watch of another scope");
    },
  },
  {
    ...baseOf(kind),
    id: `${kind.prefix}.token.garbage`,
    title: `${kind.method} refuses a token that it did not give with RESUME_TOKEN_EXPIRED`,
    rules: ["WAT-4"],
    why: "An invalid token treated as `from now on` is a silent gap; an error makes the controller list again.",
    run: async (context) => {
      const called = await refused(kind, context, { resumeToken: "no-such-token" });
      expectError(
        called,
        { codes: [11], reasons: ["RESUME_TOKEN_EXPIRED"] },
        "a token that the provider did not issue",
      );
    },
  },
];

/** What holds of a watch that is left alone. */
const lasting = (kind: WatchKind): readonly Check[] => [
  {
    ...baseOf(kind),
    id: `${kind.prefix}.never-ok`,
    title: `${kind.method} does not end of itself after the initial events, and never with OK`,
    rules: ["WAT-5"],
    why: "OK means that no further changes follow. Usually a handler that returns once it has sent what there was. --long looks for 35 s.",
    run: (context) =>
      withWatch(kind, context, async (watch) => {
        await watch.snapshot();
        const { ended } = await watch.during(lookMs(context));
        if (ended !== undefined)
          fail({
            message: "the stream ends of itself",
            expected: "an open stream",
            got: outcomeLine(ended),
            exchange: ended.exchange,
          });
      }),
  },
  {
    ...baseOf(kind),
    id: `${kind.prefix}.heartbeat`,
    title: `${kind.method} sends something with a token at least every 30 s`,
    rules: ["WAT-3"],
    why: "Silence is all that a dead connection says too: without heartbeats the controller cannot detect it. --long waits for three.",
    requires: [`${kind.prefix}.never-ok`],
    run: (context) =>
      withWatch(kind, context, async (watch) => {
        await watch.snapshot();
        for (let beat = 0; beat < (context.long ? 3 : 1); beat++) {
          const hint = await watch.until(heartbeatMs + heartbeatGraceMs, () => true);
          if (hint === undefined) fail({ message: "nothing comes for 30 s", exchange: watch.exchange });
          else if (hint.token === "")
            fail({ message: "a message has no resume_token", got: show(hint.message), exchange: watch.exchange });
        }
      }),
  },
];

/** Everything that a walk through the list shows. */
const listed = async (context: CheckContext): Promise<ReadonlyMap<string, string>> => {
  const method: MethodName = "ListInstances";
  const found = new Map<string, string>();
  let pageToken = "";
  do {
    const called = await context.caller.call(methodsByName[method], { context: context.callContext, pageToken });
    const { response } = expectOk(called, "ListInstances fails");
    const [items, next] = [property(response, "instances"), property(response, "nextPageToken")];
    for (const item of Array.isArray(items) ? items : [])
      found.set(String(instanceWatch.keyOf(item)), withoutTimes(item));
    pageToken = typeof next === "string" ? next : "";
  } while (pageToken !== "");
  return found;
};

/** Where a snapshot differs from lists before and after it; what differs between those says nothing. */
const snapshotProblems = (
  before: ReadonlyMap<string, string>,
  snapshot: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, string>,
): readonly string[] => [
  ...[...before].flatMap(([key, item]) => {
    if (after.get(key) !== item) return [];
    if (!snapshot.has(key)) return [`${key} is listed and not in the snapshot`];
    const seen = withoutTimes(snapshot.get(key));
    return seen === item ? [] : [`${key} is ${seen} in the snapshot, ${item} in the list`];
  }),
  ...[...snapshot.keys()].flatMap((key) =>
    before.has(key) || after.has(key) ? [] : [`${key} is in the snapshot and not listed`],
  ),
];

const shapeProblems = (hints: readonly Hint[]): readonly string[] => {
  const end = hints.findIndex(isEndMark);
  return hints.flatMap((hint, index) => [
    ...(hint.kind === "none" ? [`message ${index + 1} says nothing`] : []),
    ...(hint.token === "" && index >= end ? [`message ${index + 1} has no resume_token`] : []),
    ...(isEndMark(hint) && index > end ? [`message ${index + 1} ends the initial events once more`] : []),
    ...ruleProblems("cloudprovider.v1.WatchInstancesResponse", hint.message, `message ${index + 1}`),
  ]);
};

const base = baseOf(instanceWatch);
const firstCheck = "watch.initial.end";

const initial: readonly Check[] = [
  {
    ...base,
    id: firstCheck,
    title: "WatchInstances sends all machines, then a bookmark that says so",
    rules: ["WAT-2"],
    why: "Until then the controller cannot distinguish a deleted instance from one that has not been sent yet.",
    run: (context) => withWatch(instanceWatch, context, async (watch) => void (await watch.snapshot())),
  },
  {
    ...base,
    id: "watch.initial.equals-list",
    title: "the initial events of WatchInstances are the machines of ListInstances, field by field",
    rules: ["WAT-2", "LST-5"],
    why: "What is missing looks gone, and what differs is corrected to and fro. Usually two conversions of one machine.",
    capability: "instances.list",
    requires: [firstCheck],
    run: async (context) => {
      const before = await listed(context);
      const { objects } = await withWatch(instanceWatch, context, (watch) => watch.snapshot());
      expectNone(snapshotProblems(before, objects, await listed(context)), "snapshot and list differ");
    },
  },
  {
    ...base,
    id: "watch.shape",
    title: "messages of WatchInstances say something, keep the rules of fields, and have tokens from the end mark on",
    rules: ["WAT-2", "WAT-4", "LIM-1"],
    why: "Without token the controller lists again after each disconnect; an oversized field breaks readers with limits.",
    requires: [firstCheck],
    run: (context) =>
      withWatch(instanceWatch, context, async (watch) => {
        const { hints } = await watch.snapshot();
        const more = await watch.during(lookMs(context));
        expectNone(shapeProblems([...hints, ...more.hints]), "messages are wrong", { exchange: watch.exchange });
      }),
  },
  {
    ...base,
    id: "watch.multi",
    title: "three watches at once show the same machines",
    rules: ["WAT-2", "TRN-6"],
    why: "Two controllers overlap when one takes over from the other. Usually one queue of events that all watches take from.",
    requires: [firstCheck],
    run: async (context) => {
      const first = await withWatch(instanceWatch, context, (watch) => watch.snapshot());
      const patienceMs = 5_000 + first.elapsedMs * 3;
      const all = await Promise.all(
        [1, 2, 3].map(() => withWatch(instanceWatch, context, (watch) => watch.snapshot(patienceMs))),
      );
      const [one = "", ...others] = all.map(({ objects }) => show([...objects.keys()].toSorted()));
      for (const other of others)
        if (other !== one) fail({ message: "two watches at once show different machines", expected: one, got: other });
    },
  },
  {
    ...base,
    id: "watch.resume.no-snapshot",
    title: "a watch that goes on after a token does not begin with all machines again",
    rules: ["WAT-2", "WAT-4"],
    why: "After a short break of the connection every controller would work through everything: a storm when it hurts most.",
    requires: [firstCheck, "watch.shape", "watch.never-ok"],
    run: async (context) => {
      const snapshot = await withWatch(instanceWatch, context, (watch) => watch.snapshot());
      await withWatch(
        instanceWatch,
        context,
        async (watch) => {
          const { hints, ended } = await watch.during(lookMs(context));
          // WAT-4: a provider that keeps no history says so; the controller lists.
          if (ended !== undefined) {
            expectError(ended, { codes: [11], reasons: ["RESUME_TOKEN_EXPIRED"] }, "a token of a moment ago");
            return;
          }
          const again = [...snapshot.objects].filter(([key, item]) =>
            hints.some((hint) => hint.key === key && withoutTimes(hint.value) === withoutTimes(item)),
          );
          const all = snapshot.objects.size > 1 && again.length === snapshot.objects.size;
          if (all || hints.some(isEndMark))
            fail({
              message: "the snapshot comes again",
              expected: "changes after the token, if there are any",
              got: `${again.length} of ${snapshot.objects.size} machines as they were`,
              exchange: watch.exchange,
            });
        },
        { request: { resumeToken: snapshot.token } },
      );
    },
  },
];

/** What every watch does. */
export const watchChecks: readonly Check[] = [
  ...initial,
  ...watchKinds.flatMap((kind) => [...refusals(kind), ...lasting(kind)]),
];
