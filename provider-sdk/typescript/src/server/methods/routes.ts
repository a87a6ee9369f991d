import { createHash, randomUUID } from "node:crypto";
import {
  BatchDeleteRoutesRequest,
  type BatchDeleteRoutesResponse,
  BatchEnsureRoutesRequest,
  type BatchEnsureRoutesResponse,
  type ListRoutesRequest,
  type ListRoutesResponse,
  Route as WireRoute,
  type RouteQuota as WireRouteQuota,
  type RouteResult as WireRouteResult,
} from "@cloudwire/proto/cloudprovider/v1/route";
import { toWireOperation } from "../convert/common.ts";
import { fromWireRoute, toWireRoute } from "../convert/objects.ts";
import type { CallContext } from "../../definition/call-context.ts";
import type { Pending } from "../../results/results.ts";
import type {
  Route,
  RouteChangeContext,
  RouteHandlers,
  RouteListContext,
  RouteQuota,
  DesiredRoute,
} from "../../definition/routes.ts";
import { classifyError } from "../../results/classify.ts";
import { permittedError, toItemError } from "../../results/status.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RpcCall } from "../rpc/method.ts";
import { ChangeSerializer, SequenceFence } from "../../state/change-serializer.ts";
import { Limit } from "../../util/parallel.ts";
import { toWireResult } from "./results.ts";
import type { CallRecorder } from "../../telemetry/call-recorder.ts";
import { withinContext } from "../current-context.ts";
import { PagedList } from "./lists.ts";
import { knownScope, type ProviderRuntime, recorderFor } from "../runtime.ts";

type ChangeRequest = BatchEnsureRoutesRequest | BatchDeleteRoutesRequest;
type ChangeResponse = BatchEnsureRoutesResponse | BatchDeleteRoutesResponse;
type RouteResult = Route | Pending | Error | undefined;
type ChangeRoutes = (
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
) => Promise<readonly RouteResult[]> | readonly RouteResult[];
type Outcome = Route | Pending | ProviderError | undefined;

/** Changes of single routes at once, over all calls. */
const maxSingleChanges = 16;

const defaultMaxPageSize = 500;

/** Serves the RPCs about routes. */
export class RouteService {
  readonly #runtime: ProviderRuntime;
  readonly #handlers: RouteHandlers;
  readonly #limit = new Limit(maxSingleChanges);
  readonly #serializer: ChangeSerializer<ChangeResponse>;
  readonly #fence: SequenceFence;
  readonly #list: PagedList<Route, WireRoute, RouteListContext>;
  #listedQuota: WireRouteQuota | undefined;

  constructor(runtime: ProviderRuntime, handlers: RouteHandlers) {
    this.#runtime = runtime;
    this.#handlers = handlers;
    const { clock, log, bootId, draining } = runtime;
    this.#serializer = new ChangeSerializer({ clock, log, bootId, draining, softMs: 0 });
    this.#fence = new SequenceFence(runtime.nowMs);
    this.#list = new PagedList({
      runtime,
      name: "ListRoutes",
      maxPageSize: runtime.capabilities.routes?.maxPageSize || defaultMaxPageSize,
      list: (context: RouteListContext) => handlers.list(context),
      contextOf: (context: CallContext) => ({
        ...context,
        reportQuota: (quota: RouteQuota) => {
          this.#listedQuota = toWireQuota(quota);
        },
      }),
      convert: (route: Route) => this.#toWire(route),
      sizeOf: (route) => WireRoute.encode(route).finish().length,
    });
  }

  async list(request: ListRoutesRequest, call: RpcCall): Promise<ListRoutesResponse> {
    const { items, nextPageToken, complete, stats } = await this.#list.page(request, call);
    return {
      routes: items,
      nextPageToken,
      complete,
      scopeId: knownScope(this.#runtime),
      quota: this.#listedQuota,
      stats,
    };
  }

  ensure(request: BatchEnsureRoutesRequest, call: RpcCall): Promise<BatchEnsureRoutesResponse> {
    const { ensure, ensureMany } = this.#handlers;
    const digest = digestOf("ensure", BatchEnsureRoutesRequest.encode(request).finish());
    const ensureAll: ChangeRoutes = (routes, context) =>
      ensureMany ? ensureMany(routes, context) : this.#each(routes, context, async (route) => ensure(route, context));
    return this.#change(request, call, digest, (routes, context) => withoutForeign(routes, context, ensureAll));
  }

  delete(request: BatchDeleteRoutesRequest, call: RpcCall): Promise<BatchDeleteRoutesResponse> {
    const { delete: deleteOne, deleteMany } = this.#handlers;
    const digest = digestOf("delete", BatchDeleteRoutesRequest.encode(request).finish());
    return this.#change(request, call, digest, (routes, context) =>
      deleteMany
        ? deleteMany(routes, context)
        : this.#each(routes, context, async (route) => (await deleteOne(route, context)) ?? undefined),
    );
  }

  #change(request: ChangeRequest, call: RpcCall, digest: string, work: ChangeRoutes): Promise<ChangeResponse> {
    const run = async (signal: AbortSignal): Promise<ChangeResponse> => {
      const recorder = recorderFor(this.#runtime, request, call, signal);
      const quota: { value: WireRouteQuota | undefined } = { value: undefined };
      const context: RouteChangeContext = {
        ...recorder.change(request.change),
        reportQuota: (reported) => {
          quota.value = toWireQuota(reported);
        },
      };
      const wanted = request.routes.map((route) => fromWireRoute(route, this.#runtime.ids));
      const answers = await this.#inSequence(wanted, request, (routes) =>
        withinContext(context, () => work(routes, context)),
      );
      const results = request.routes.map((route, index) => this.#toResult(answers[index], route, recorder));
      return { results, quota: quota.value, plannedChanges: recorder.plannedChanges, stats: recorder.stats };
    };
    if (request.change?.validateOnly) return run(call.signal);
    const changeId = request.change?.requestId ?? "";
    // Different changes run side by side: which routes they touch is the controller's to keep apart.
    return this.#serializer.run({
      key: changeId,
      changeId,
      digest,
      signal: call.signal,
      work: ({ signal }) => run(signal),
      isFinal,
    });
  }

  /** Routes that a newer change has passed are refused one by one; the provider sees the rest. */
  async #inSequence(
    routes: readonly DesiredRoute[],
    { change, context }: ChangeRequest,
    work: (routes: readonly DesiredRoute[]) => Promise<readonly RouteResult[]> | readonly RouteResult[],
  ): Promise<readonly RouteResult[]> {
    const sequence = change?.validateOnly ? 0n : (change?.sequence ?? 0n);
    const keyOf = ({ destinationCidr }: DesiredRoute) => `${context?.cluster?.id} ${destinationCidr}`;
    const superseded = routes.map((route) => this.#fence.superseded(keyOf(route), sequence));
    const current = routes.filter((_route, index) => superseded[index] === undefined);
    for (const route of current) this.#fence.begun(keyOf(route), sequence);
    const answers = current.length === 0 ? [] : await work(current);
    if (answers.length !== current.length)
      throw new ProviderError(
        "INVARIANT_BROKEN",
        `the provider answered ${answers.length} items to ${current.length} routes`,
      );
    const left = answers.values();
    return superseded.map((error) => error ?? left.next().value);
  }

  #each(
    routes: readonly DesiredRoute[],
    { signal }: RouteChangeContext,
    work: (route: DesiredRoute) => Promise<Route | Pending | undefined>,
  ): Promise<readonly RouteResult[]> {
    return Promise.all(
      routes.map((route) =>
        this.#limit
          .run(signal, () => work(route))
          .catch((error: unknown) => (error instanceof Error ? error : new Error("not an Error", { cause: error }))),
      ),
    );
  }

  #toResult(answer: Route | Pending | Error | undefined, asked: WireRoute, recorder: CallRecorder): WireRouteResult {
    const outcome = answer instanceof Error ? this.#note(answer, recorder) : answer;
    return { outcome: this.#toOutcome(outcome, asked) };
  }

  #toOutcome(answer: Outcome, asked: WireRoute): WireRouteResult["outcome"] {
    if (answer === undefined) return { $case: "route", value: asked };
    if (answer instanceof ProviderError) return { $case: "error", value: toItemError(answer) };
    if (answer.kind === "pending") return { $case: "operation", value: toWireOperation(answer) };
    const checked = this.#toWire(answer, asked);
    if (checked instanceof ProviderError) return { $case: "error", value: toItemError(checked) };
    return { $case: "route", value: checked };
  }

  #toWire(route: Route, asked?: WireRoute): WireRoute | ProviderError {
    const { rules, ids } = this.#runtime;
    return toWireResult(rules, "Route", () => toWireRoute(route, ids, asked));
  }

  #note(thrown: Error, recorder: CallRecorder): ProviderError {
    const correlationId = randomUUID();
    const { error: found, masked } = classifyError(thrown, { mutation: true, correlationId });
    const error = permittedError(found, recorder.method, "item");
    recorder.noteError(error);
    if (masked || error !== found)
      this.#runtime.log.error("A route failed in a way the provider did not expect", { correlationId, error: thrown });
    return error;
  }
}

/** Routes to machines of other providers are refused one by one; the provider sees the rest. */
const withoutForeign = async (
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
  ensureAll: ChangeRoutes,
): Promise<readonly RouteResult[]> => {
  const mine = routes.filter(({ targetId }) => targetId !== undefined);
  const answers = mine.length === 0 ? [] : await ensureAll(mine, context);
  if (answers.length !== mine.length) return answers;
  const left = answers.values();
  return routes.map((route) => (route.targetId === undefined ? foreignTarget(route) : left.next().value));
};

const foreignTarget = ({ targetProviderId }: DesiredRoute): ProviderError =>
  new ProviderError("ROUTE_TARGET_NOT_FOUND", `${targetProviderId} is not a machine of this provider`);

const toWireQuota = ({ limit, used }: RouteQuota): WireRouteQuota => ({ limit, used });

const digestOf = (kind: string, bytes: Uint8Array): string =>
  `${kind} ${createHash("sha256").update(bytes).digest("base64url")}`;

const isFinal = (response: ChangeResponse): boolean =>
  response.results.every(({ outcome }) => outcome?.$case === "route");
