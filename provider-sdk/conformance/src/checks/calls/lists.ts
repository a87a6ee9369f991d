import type { MethodName } from "@cloudwire/proto/methods";
import type { Check, CheckContext, ProfileName } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { CallOptions } from "../../endpoint/caller.ts";
import { property } from "../../contract/field-rules.ts";
import { methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";

/** A method that answers in pages. */
interface List {
  readonly prefix: string;
  readonly method: MethodName;
  readonly profile: ProfileName;
  readonly capability: string;
  readonly field: string;
  readonly maxOf: (context: CheckContext) => number;
  /** What distinguishes items. */
  readonly key: string;
}

const lists: readonly List[] = [
  {
    prefix: "list",
    method: "ListInstances",
    profile: "instances-list",
    capability: "instances.list",
    field: "instances",
    maxOf: ({ info }) => info.capabilities?.instances?.list?.maxPageSize ?? 0,
    key: "providerId",
  },
  {
    prefix: "lb.list",
    method: "ListLoadBalancers",
    profile: "loadbalancer",
    capability: "load_balancers.list",
    field: "loadBalancers",
    maxOf: ({ info }) => info.capabilities?.loadBalancers?.list?.maxPageSize ?? 0,
    key: "id",
  },
  {
    prefix: "route.list",
    method: "ListRoutes",
    profile: "routes",
    capability: "routes",
    field: "routes",
    maxOf: ({ info }) => info.capabilities?.routes?.maxPageSize || 500,
    key: "id",
  },
];

/** Most pages that a check walks: a cloud may be large. */
const maxPages = 25;

const page = async (list: List, context: CheckContext, more: object, options: CallOptions = {}) =>
  context.caller.call(methodsByName[list.method], { ...sampleRequest(list.method, context), ...more }, options);

/** A page that must be there: its items' keys and the token of the next. */
const read = async (list: List, context: CheckContext, pageSize: number, pageToken = "") => {
  const called = await page(list, context, { pageSize, pageToken });
  const { response, bytes } = expectOk(called, `a page of ${pageSize}`);
  const items: unknown = property(response, list.field);
  const token: unknown = property(response, "nextPageToken");
  const keys = (Array.isArray(items) ? items : []).map((item: unknown) => String(property(item, list.key)));
  return { keys, token: typeof token === "string" ? token : "", bytes, response, exchange: called.exchange };
};

const baseOf = (list: List) =>
  ({ level: "R", profile: list.profile, capability: list.capability, timeoutMs: 70_000 }) as const;

/** What a list refuses. */
const refusals = (list: List): readonly Check[] => {
  const base = baseOf(list);
  return [
    {
      ...base,
      level: "S",
      id: `${list.prefix}.page.negative`,
      title: `${list.method} refuses a negative page size with PAGE_SIZE_INVALID`,
      rules: ["LST-2"],
      why: "An error of the caller must be reported, not corrected by a guess.",
      run: async (context) => {
        const wanted = { codes: [3], reasons: ["PAGE_SIZE_INVALID"], field: "page_size" };
        expectError(await page(list, context, { pageSize: -1 }), wanted, "page size -1");
      },
    },
    {
      ...base,
      id: `${list.prefix}.page.bad-token`,
      title: `${list.method} refuses a token that it did not give with PAGE_TOKEN_INVALID`,
      rules: ["LST-3"],
      why: "Garbage taken as the first page makes a walk without end, or a list with holes.",
      run: async (context) => {
        const called = await page(list, context, { pageToken: "no-such-token" });
        expectError(called, { codes: [3], reasons: ["PAGE_TOKEN_INVALID"] }, "a token that the provider did not issue");
      },
    },
  ];
};

/** The keys of pages of one size, until there are enough. */
const walk = async (list: List, context: CheckContext, size: number, enough: number): Promise<readonly string[]> => {
  const walked: string[] = [];
  let token = "";
  for (let index = 0; index <= maxPages; index++) {
    const small = await read(list, context, size, token);
    if (small.keys.length > size)
      fail({ message: `a page of ${size} has ${small.keys.length} items`, exchange: small.exchange });
    walked.push(...small.keys);
    token = small.token;
    if (token === "" || walked.length >= enough) break;
  }
  return walked;
};

/** What a list answers. */
const answers = (list: List): readonly Check[] => {
  const base = baseOf(list);
  return [
    {
      ...base,
      id: `${list.prefix}.page.coerce`,
      title: `${list.method} cuts a page size above its maximum to it`,
      rules: ["LST-2", "LST-1"],
      why: "The controller asks for large pages and takes what it gets.",
      run: async (context) => {
        const max = list.maxOf(context);
        const { keys, bytes, exchange } = await read(list, context, 1_000_000);
        if (keys.length > max)
          fail({
            message: "the page is too large",
            expected: `at most ${max} items`,
            got: String(keys.length),
            exchange,
          });
        if (bytes.length > 2 ** 20)
          fail({ message: "the page is too large", expected: "at most 1 MiB", got: `${bytes.length} bytes`, exchange });
      },
    },
    {
      ...base,
      id: `${list.prefix}.page.walk`,
      title: `${list.method} answers the same items in small pages and in large ones, each once`,
      rules: ["LST-1", "LST-2", "LST-3"],
      why: "An item that is lost between two pages looks gone.",
      run: async (context) => {
        const whole = await read(list, context, list.maxOf(context));
        const size = Math.max(1, Math.ceil(whole.keys.length / maxPages));
        const walked = await walk(list, context, size, whole.keys.length);
        const expected = show(whole.keys.toSorted());
        const got = show(walked.toSorted());
        if (got !== expected) fail({ message: `pages of ${size} add up to something else`, expected, got });
      },
    },
    {
      ...base,
      id: `${list.prefix}.scope`,
      title: `${list.method} answers the scope of the handshake`,
      rules: ["SHAPE-7"],
      why: "A list of another account makes everything look gone.",
      run: async (context) => {
        const { response, exchange } = await read(list, context, 1);
        const got = property(response, "scopeId");
        if (got !== context.info.scopeId)
          fail({ message: "the scope is another", expected: context.info.scopeId, got: show(got), exchange });
      },
    },
  ];
};

const ownOnly = (id: string, list: List | undefined, rules: readonly string[]): readonly Check[] =>
  list === undefined
    ? []
    : [
        {
          level: "R",
          profile: list.profile,
          capability: list.capability,
          id,
          title: `${list.method} shows nothing to a cluster that has made nothing`,
          rules,
          why: "What a cluster is shown and has not made it deletes: the user's own objects, or another cluster's.",
          run: async (context) => {
            const { keys, exchange } = await read(list, context, list.maxOf(context));
            expectNone(keys, "a cluster that never existed has objects", { exchange, expected: "none" });
          },
        },
      ];

/** Every method that answers in pages. */
export const listChecks: readonly Check[] = [
  ...lists.flatMap((list) => [...refusals(list), ...answers(list)]),
  ...ownOnly("lb.list.owned", lists[1], ["LB-12"]),
  ...ownOnly("route.list.owned", lists[2], ["RTE-1"]),
];
