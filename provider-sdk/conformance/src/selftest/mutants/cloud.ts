import { AbsenceBasis, NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  type BatchGetInstancesResponse,
  type Instance,
  type InstanceResult,
  InstanceState,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import { methods } from "../../contract/methods.ts";
import {
  type Mutant,
  alterResponse,
  fieldsOf,
  suppressErrors,
  replaceResponse,
  isCall,
  messageOf,
  okReply,
  requestOf,
} from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";

const batch = methods.batchGetInstances;
const list = methods.listInstances;

const machines = (alter: (machine: Instance) => Instance): Intercept =>
  results((result) =>
    result.outcome?.$case === "instance"
      ? { ...result, outcome: { $case: "instance", value: alter(result.outcome.value) } }
      : result,
  );

const results = (alter: (result: InstanceResult) => InstanceResult): Intercept =>
  alterResponse(batch, (answer) => ({ ...answer, results: answer.results.map(alter) }));

/** Alters answers by what was asked. */
const asked =
  (
    alter: (
      answer: BatchGetInstancesResponse,
      request: ReturnType<typeof batch.requestType.decode>,
    ) => BatchGetInstancesResponse,
  ): Intercept =>
  async (request, next) => {
    const question = requestOf(request, batch);
    return question === undefined
      ? next(request)
      : alterResponse(batch, (answer) => alter(answer, question))(request, next);
  };

const absent = {
  $case: "absent",
  value: { basis: AbsenceBasis.LOOKUP_MISS, observeTime: new Date(0), stronglyConsistent: true },
} as const;

let turn = 0;
const rotate = <Item>(items: readonly Item[]): Item[] => (turn++ % 2 === 0 ? [...items] : items.toReversed());

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `x-${index}` }));

/** Methods that answer in pages, checks that look something up in their lists, and pages of any number of items. The three requests have the same fields. */
const lists = [
  {
    method: "ListInstances",
    prefix: "list",
    readers: ["list.has-fixture", "watch.initial.equals-list"],
    owned: [],
    make: (count: number) => {
      const instances = many(count).map(({ id }) => ({ providerId: id }));
      return list.responseType.encode(list.responseType.fromPartial({ instances })).finish();
    },
  },
  {
    method: "ListLoadBalancers",
    prefix: "lb.list",
    readers: [
      "conc.ensure.others",
      "conc.ensure.same",
      "lb.cluster.isolated",
      "lb.ensure.idempotent",
      "lb.ensure.ports",
      "lb.list.one",
      "time.cancel.adopts",
    ],
    owned: ["lb.list.owned"],
    make: (count: number) => {
      const { responseType } = methods.listLoadBalancers;
      return responseType.encode(responseType.fromPartial({ loadBalancers: many(count) })).finish();
    },
  },
  {
    method: "ListRoutes",
    prefix: "route.list",
    readers: ["route.create"],
    owned: ["route.list.owned"],
    make: (count: number) => {
      const { responseType } = methods.listRoutes;
      return responseType.encode(responseType.fromPartial({ routes: many(count) })).finish();
    },
  },
] as const;

/** A method whose bounds are let pass: what its empty and its overfull batches come to. */
const bounds = (method: string, prefix: string): readonly Mutant[] => [
  {
    name: `empty-ok-${method}`,
    fault: `${method} answers an empty batch`,
    // The check of request ids asks for machines with a message that has no field at all.
    fails: [`${prefix}.batch.empty`, fieldsOf(method), ...(prefix === "inst" ? ["obs.request-id"] : [])],
    intercept: suppressErrors(method, ({ reason }) => reason === "BATCH_EMPTY"),
  },
  {
    name: `no-cap-${method}`,
    fault: `${method} takes any number of items`,
    fails: [`${prefix}.batch.over`, fieldsOf(method)],
    intercept: suppressErrors(method, ({ reason }) => reason === "BATCH_TOO_LARGE"),
  },
  {
    name: `drops-last-${method}`,
    fault: `${method} forgets the last item of a large batch`,
    fails: [`${prefix}.batch.max`, ...(prefix === "inst" ? ["conc.batch"] : [])],
    intercept: async (request, next) => {
      const reply = await next(request);
      const bytes = isCall(request, method) ? messageOf(reply.body) : undefined;
      return bytes !== undefined && bytes.length > 2_000 ? okReply(Buffer.alloc(0)) : reply;
    },
  },
];

const pages = (method: string, prefix: string): readonly Mutant[] => [
  {
    name: `negative-ok-${method}`,
    fault: `${method} takes a negative page size`,
    fails: [`${prefix}.page.negative`],
    intercept: suppressErrors(method, ({ reason }) => reason === "PAGE_SIZE_INVALID"),
  },
  {
    name: `token-lenient-${method}`,
    fault: `${method} takes any page token`,
    fails: [`${prefix}.page.bad-token`, ...(prefix === "list" ? ["list.page.changed"] : [])],
    intercept: suppressErrors(method, ({ reason }) => reason === "PAGE_TOKEN_INVALID"),
  },
];

/** Faults of what is said of the cloud. */
export const cloudMutants: readonly Mutant[] = [
  ...bounds("BatchGetInstances", "inst"),
  ...bounds("BatchGetVolumes", "vol"),
  ...bounds("BatchEnsureRoutes", "route.ensure"),
  ...bounds("BatchDeleteRoutes", "route.delete"),
  ...pages("ListInstances", "list"),
  ...pages("ListLoadBalancers", "lb.list"),
  ...pages("ListRoutes", "route.list"),
  {
    name: "id-unknown",
    fault: "no machine is found by its id",
    fails: [
      "conc.batch",
      "inst.get.by-id",
      "inst.get.by-name",
      "inst.get.id-wins",
      "inst.state.stopped",
      "list.equals-get",
    ],
    intercept: results((result) => (result.outcome?.$case === "instance" ? { ...result, outcome: absent } : result)),
  },
  {
    name: "no-names",
    fault: "no machine is found by its name",
    fails: ["inst.get.by-name"],
    intercept: asked((answer, { nodes }) => ({
      ...answer,
      results: answer.results.map((result, index) =>
        nodes[index]?.providerId === "" ? { ...result, outcome: absent } : result,
      ),
    })),
  },
  {
    name: "name-first",
    fault: "the name must fit, too",
    fails: ["inst.get.id-wins"],
    intercept: asked((answer, { nodes }) => ({
      ...answer,
      results: answer.results.map((result, index) =>
        nodes[index]?.name === "conformance-wrong-name" ? { ...result, outcome: absent } : result,
      ),
    })),
  },
  {
    name: "wrong-zone",
    fault: "the zone is the region",
    fails: ["inst.get.expected", "list.equals-get"],
    intercept: machines((machine) => ({ ...machine, zone: machine.region })),
  },
  {
    name: "no-inner-address",
    fault: "the machine's name is missing",
    fails: ["inst.get.fields", "list.equals-get"],
    intercept: machines((machine) => ({ ...machine, name: "" })),
  },
  {
    name: "rewrites-id",
    fault: "provider IDs come back as those of other machines",
    fails: ["inst.get.by-name", "inst.get.id-wins", "inst.id.roundtrip", "list.equals-get"],
    intercept: machines((machine) => ({ ...machine, providerId: `${machine.providerId}-other` })),
  },
  {
    name: "cidr-as-ip",
    fault: "an address is a range",
    fails: ["inst.addr.valid", "list.equals-get"],
    intercept: machines((machine) => ({
      ...machine,
      addresses: [...machine.addresses, { type: NodeAddressType.EXTERNAL_IP, address: "192.0.2.9/24" }],
    })),
  },
  {
    name: "shuffles-addresses",
    fault: "addresses come in another order each time",
    fails: ["inst.addr.stable"],
    // Whether a list differs from a look-up depends on how often was asked before.
    only: ["inst.addr.stable"],
    intercept: machines((machine) => ({ ...machine, addresses: rotate(machine.addresses) })),
  },
  {
    name: "steals-labels",
    fault: "a label is Kubernetes' own",
    fails: ["inst.labels.valid", "list.equals-get"],
    intercept: machines((machine) => ({ ...machine, labels: { "kubernetes.io/hostname": "x" } })),
  },
  {
    name: "stateless",
    fault: "the state is never known",
    fails: ["inst.state.running", "inst.state.stopped", "list.equals-get"],
    intercept: machines((machine) => ({ ...machine, state: InstanceState.UNSPECIFIED })),
  },
  {
    name: "absence-bare",
    fault: "absences have no basis",
    fails: ["inst.absent.never", "inst.absent.terminated"],
    intercept: results((result) =>
      result.outcome?.$case === "absent"
        ? { ...result, outcome: { ...absent, value: { ...absent.value, basis: AbsenceBasis.UNSPECIFIED } } }
        : result,
    ),
  },
  {
    name: "foreign-is-absent",
    fault: "another cloud's machines are absent",
    fails: ["compat.golden", "compat.v1-0-client", "inst.absent.foreign"],
    intercept: results((result) => (result.outcome?.$case === "notOwned" ? { ...result, outcome: absent } : result)),
  },
  {
    name: "malformed-is-absent",
    fault: "what cannot be read is absent",
    fails: ["inst.absent.malformed"],
    intercept: results((result) =>
      result.outcome?.$case === "unknown" && result.outcome.value.reason === "PROVIDER_ID_MALFORMED"
        ? { ...result, outcome: absent }
        : result,
    ),
  },
  {
    name: "scope-missing",
    fault: "a batch's answer has no scope",
    fails: ["inst.scope.echo"],
    intercept: alterResponse(batch, (answer) => ({ ...answer, scopeId: "" })),
  },
  {
    name: "sorts-results",
    fault: "results are sorted",
    fails: ["conc.batch", "inst.batch.mixed"],
    intercept: alterResponse(batch, (answer) => ({
      ...answer,
      results: answer.results.toSorted((one, other) =>
        (one.outcome?.$case ?? "").localeCompare(other.outcome?.$case ?? ""),
      ),
    })),
  },
  {
    name: "answers-once",
    fault: "a machine asked for twice is answered once",
    fails: ["inst.batch.dup"],
    intercept: asked((answer, { nodes }) => ({
      ...answer,
      results: answer.results.map((result, index) =>
        index > 0 && nodes.length === 2 && nodes[0]?.providerId === nodes[1]?.providerId
          ? { ...result, outcome: absent }
          : result,
      ),
    })),
  },
  {
    name: "cached-for-ever",
    fault: "data is a minute old whatever is asked",
    fails: ["inst.age.honored"],
    intercept: results((result) => ({ ...result, readTime: new Date(Date.now() - 60_000) })),
  },
  {
    name: "ignores-page-size",
    fault: "pages are as large as they like",
    fails: ["list.page.walk"],
    intercept: async (request, next) => {
      const question = requestOf(request, list);
      if (question === undefined || question.pageSize <= 0 || question.pageToken !== "") return next(request);
      const whole = okReply(list.requestType.encode({ ...question, pageSize: 1_000 }).finish());
      return next({ ...request, body: whole.body });
    },
  },
  {
    name: "list-of-another-scope",
    fault: "a list names another scope",
    fails: ["list.scope"],
    intercept: alterResponse(list, (answer) => ({ ...answer, scopeId: "account-2" })),
  },
  ...lists.flatMap(({ method, prefix, readers, owned, make }): readonly Mutant[] => [
    {
      name: `fat-pages-${method}`,
      fault: `a page of ${method} holds more items than its maximum says`,
      fails: [`${prefix}.page.coerce`, `${prefix}.page.walk`, `${prefix}.scope`, ...owned, ...readers],
      intercept: replaceResponse(method, () => make(2_000)),
    },
    {
      name: `empty-answer-${method}`,
      fault: `${method} answers nothing at all`,
      fails: [`${prefix}.scope`, ...readers],
      intercept: replaceResponse(method, () => make(0)),
    },
    {
      name: `loses-items-${method}`,
      fault: `an item is on large pages of ${method} only`,
      fails: [`${prefix}.page.walk`, `${prefix}.scope`, ...owned, ...readers],
      intercept: replaceResponse(method, (request) => {
        const question = requestOf(request, { ...list, name: method });
        return make((question?.pageSize ?? 0) > 1 ? 1 : 0);
      }),
    },
  ]),
  ...lists.slice(1).map(
    ({ method, prefix, readers, owned, make }): Mutant => ({
      name: `lists-all-${method}`,
      fault: `${method} shows what other clusters have`,
      fails: [`${prefix}.scope`, ...owned, ...readers],
      intercept: replaceResponse(method, () => make(1)),
    }),
  ),
];
