import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { type RpcMethod, type RpcService, absentMethod, unary } from "../rpc/method.ts";
import { checkBatch, checkDeletedRoutes, checkEnsuredRoutes, checkPage } from "../validation/requests.ts";
import { refusal } from "../validation/violation.ts";
import { createGetProviderInfo, type HandshakeFacts } from "../identity.ts";
import { instanceMethods } from "./instance-methods.ts";
import { loadBalancerMethods } from "./load-balancer-methods.ts";
import { MethodBinder } from "../method-binder.ts";
import { RouteService } from "./routes.ts";
import type { ProviderRuntime } from "../runtime.ts";
import type { StatusMonitor } from "../status-monitor.ts";
import { VolumeBatch } from "./volumes.ts";

const { methods } = CloudProviderDefinition;

/** The contract's service over a provider's handlers. Methods of capabilities that are not claimed refuse. */
export const createCloudProviderService = (
  runtime: ProviderRuntime,
  status: StatusMonitor,
  facts: HandshakeFacts,
): RpcService => {
  const binder = new MethodBinder(runtime);
  const served = [
    ...identityMethods(runtime, status, facts),
    ...instanceMethods(runtime, binder),
    ...loadBalancerMethods(runtime, binder),
    ...routeMethods(runtime, binder),
    ...volumeMethods(runtime, binder),
  ];
  const names = new Set(served.map(({ name }) => name));
  const absent = Object.values(methods).filter(({ name }) => !names.has(name));
  return { fullName: CloudProviderDefinition.fullName, methods: [...served, ...absent.map(absentMethod)] };
};

/** Always served: no scope to check, no limit, no cloud. */
const identityMethods = (
  runtime: ProviderRuntime,
  status: StatusMonitor,
  facts: HandshakeFacts,
): readonly RpcMethod[] => {
  const info = createGetProviderInfo(runtime, facts);
  return [
    unary(methods.getProviderInfo, (request) => {
      requireRules(runtime, "GetProviderInfo", request);
      return info();
    }),
    unary(methods.getProviderStatus, (request) => {
      requireRules(runtime, "GetProviderStatus", request);
      return status.status();
    }),
  ];
};

const requireRules = ({ rules }: ProviderRuntime, method: string, request: unknown): void => {
  const refused = refusal(method, rules.check(`cloudprovider.v1.${method}Request`, request));
  if (refused) throw refused;
};

const routeMethods = (runtime: ProviderRuntime, binder: MethodBinder): readonly RpcMethod[] => {
  const handlers = runtime.definition.routes;
  const claimed = runtime.capabilities.routes;
  if (!handlers || !claimed) return [];
  const service = new RouteService(runtime, handlers);
  const { validateOnly } = claimed;
  return [
    binder.read(methods.listRoutes, checkPage, (request, call) => service.list(request, call)),
    binder.change(
      methods.batchEnsureRoutes,
      { validateOnly, checks: ({ routes }) => checkEnsuredRoutes(routes, claimed) },
      (request, call) => service.ensure(request, call),
    ),
    binder.change(
      methods.batchDeleteRoutes,
      { validateOnly, checks: ({ routes }) => checkDeletedRoutes(routes, claimed) },
      (request, call) => service.delete(request, call),
    ),
  ];
};

const volumeMethods = (runtime: ProviderRuntime, binder: MethodBinder): readonly RpcMethod[] => {
  const handlers = runtime.definition.volumes;
  const claimed = runtime.capabilities.volumes;
  if (!handlers || !claimed) return [];
  const batch = new VolumeBatch(runtime, handlers);
  return [
    binder.read(
      methods.batchGetVolumes,
      (request) => checkBatch("volumes", request.volumes, claimed.maxBatchSize),
      (request, call) => batch.get(request, call),
    ),
  ];
};
