import type { Instance } from "@cloudwire/proto/cloudprovider/v1/instance";
import { isSameInstance } from "@cloudwire/proto/provider-ids";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { methods } from "../../contract/methods.ts";

const base = { level: "R", profile: "instances-list", timeoutMs: 70_000 } as const;

/** Most pages that are walked: a cloud may be large. */
const maxPages = 50;

const page = async ({ caller, callContext }: CheckContext, pageSize: number, pageToken = "") => {
  const request = { context: callContext, pageSize, pageToken };
  const called = await caller.call(methods.listInstances, request);
  return { ...expectOk(called, `a page of ${pageSize}`).response, exchange: called.exchange };
};

const idsOf = (instances: readonly Instance[]): readonly string[] => instances.map(({ providerId }) => providerId);

/** The token after the first page of one machine. */
const firstToken = async (context: CheckContext): Promise<string> => {
  const { nextPageToken } = await page(context, 1);
  if (nextPageToken === "") throw new CheckSkipped("there is only one page: the check needs two instances");
  return nextPageToken;
};

/** The pages of the largest size, to the end if that is not too far. */
const walk = async (context: CheckContext) => {
  const pages: Awaited<ReturnType<typeof page>>[] = [];
  let token = "";
  do {
    const next = await page(context, 0, token);
    pages.push(next);
    token = next.nextPageToken;
  } while (token !== "" && pages.length < maxPages);
  return { pages, whole: token === "" };
};

/** The configured machine as the list has it. */
const listed = async (context: CheckContext): Promise<Instance | undefined> => {
  const { pages } = await walk(context);
  const { providerId } = context.fixtures.instance ?? {};
  return pages.flatMap(({ instances }) => instances).find((one) => isSameInstance(one.providerId, providerId ?? ""));
};

/** Fails for configured machines that are on none of the pages. */
const expectListed = async (context: CheckContext): Promise<void> => {
  const { instance, otherInstance } = context.fixtures;
  const { pages, whole } = await walk(context);
  const ids = new Set(pages.flatMap(({ instances }) => instances.map(({ providerId }) => providerId)));
  // Of a list that is longer than what is looked at, one machine is asked for.
  const wanted = [instance, ...(whole ? [otherInstance] : [])].flatMap((one) => one?.providerId ?? []);
  const missing = wanted.filter((providerId) => ![...ids].some((id) => isSameInstance(id, providerId)));
  if (missing.length === 0) return;
  const got = `${ids.size} machines on ${pages.length} pages${whole ? "" : ", and more that were not looked at"}`;
  const message = "not listed; are all pages of the cloud's own list read";
  fail({ message, expected: missing.join(", "), got });
};

/** What pages hold beyond their number of items. */
export const pageChecks: readonly Check[] = [
  {
    ...base,
    id: "list.has-fixture",
    title: "the machine of the configuration is listed",
    rules: ["LST-5"],
    why: "What is not listed looks gone.",
    fixtures: ["instance"],
    run: expectListed,
  },
  {
    ...base,
    id: "list.equals-get",
    title: "the machine is listed as BatchGetInstances answers it",
    rules: ["LST-5"],
    why: "Two truths about one machine are a write to its Node each time.",
    fixtures: ["instance"],
    requires: ["list.has-fixture"],
    run: async (context) => {
      const { providerId = "", nodeName: name = "" } = context.fixtures.instance ?? {};
      const one = await listed(context);
      const nodes = [{ name, providerId }];
      const called = await context.caller.call(methods.batchGetInstances, { context: context.callContext, nodes });
      const outcome = expectOk(called, "the batch is refused").response.results[0]?.outcome;
      const got = outcome?.$case === "instance" ? outcome.value : undefined;
      if (show(one) !== show(got))
        fail({ message: "they are not the same", expected: show(got), got: show(one), exchange: called.exchange });
    },
  },
  {
    ...base,
    id: "list.page.reuse",
    title: "a token that comes twice gives the same page twice",
    rules: ["LST-3"],
    why: "An answer gets lost, and with it the machines on that page.",
    run: async (context) => {
      const token = await firstToken(context);
      const [first, second] = [await page(context, 1, token), await page(context, 1, token)];
      const [expected, got] = [show(idsOf(first.instances)), show(idsOf(second.instances))];
      if (got !== expected) fail({ message: "the page is another", expected, got, exchange: second.exchange });
    },
  },
  {
    ...base,
    id: "list.page.changed",
    title: "a token of another cluster's request is refused with PAGE_TOKEN_INVALID",
    rules: ["LST-3"],
    why: "Half of a list of one thing and half of another add up to a wrong whole.",
    run: async (context) => {
      const pageToken = await firstToken(context);
      const { cluster, scopeId } = context.callContext;
      const other = { cluster: { ...cluster, id: `${cluster.id}-other` }, scopeId };
      const called = await context.caller.call(methods.listInstances, { context: other, pageSize: 1, pageToken });
      expectError(called, { codes: [3], reasons: ["PAGE_TOKEN_INVALID"] }, "a token of another request");
    },
  },
  {
    ...base,
    id: "list.complete",
    title: "only a last page says that the list is complete, and none that names what could not be read",
    rules: ["LST-4", "ABS-5"],
    why: "On the word `complete` everything that is missing is taken for gone.",
    run: async (context) => {
      const { pages, whole } = await walk(context);
      const last = pages.length - 1;
      const unread = pages.flatMap(({ unreachable }) => unreachable);
      const problems = pages.flatMap(({ complete }, index) => [
        ...(complete && (index < last || !whole) ? [`page ${index + 1} of more is complete`] : []),
        ...(complete && unread.length > 0 ? [`complete, and ${unread.join(", ")} could not be read`] : []),
      ]);
      expectNone(problems, "pages say too much");
    },
  },
];
