import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { ProviderError } from "../errors/provider-error.ts";
import { type RpcMethod, type RpcService, unary } from "../rpc/method.ts";
import { Limit } from "../util/limit.ts";
import { createGetProviderInfo, type HandshakeFacts } from "./identity.ts";
import { createBatchGetInstances } from "./instances.ts";
import { LoadBalancerService } from "./load-balancers.ts";
import { NodeResolver } from "./node-resolver.ts";
import type { ProviderRuntime } from "./runtime.ts";
import type { StatusMonitor } from "./status-monitor.ts";

const methods = CloudProviderDefinition.methods;

/** Look-ups of single machines or volumes at once, over all calls. */
const maxSingleLookUps = 16;

/** The contract's service over a provider's handlers. */
export const createCloudProviderService = (
  runtime: ProviderRuntime,
  status: StatusMonitor,
  facts: HandshakeFacts,
): RpcService => ({
  fullName: CloudProviderDefinition.fullName,
  methods: [
    unary(methods.getProviderInfo, createGetProviderInfo(runtime, facts)),
    unary(methods.getProviderStatus, () => status.status()),
    ...instanceMethods(runtime),
    ...loadBalancerMethods(runtime),
  ],
});

const instanceMethods = (runtime: ProviderRuntime): readonly RpcMethod[] => {
  const handlers = runtime.definition.instances;
  if (!handlers) return [absent(methods.batchGetInstances)];
  return [unary(methods.batchGetInstances, createBatchGetInstances(runtime, handlers, new Limit(maxSingleLookUps)))];
};

const loadBalancerMethods = (runtime: ProviderRuntime): readonly RpcMethod[] => {
  const handlers = runtime.definition.loadBalancers;
  if (!handlers)
    return [absent(methods.getLoadBalancer), absent(methods.ensureLoadBalancer), absent(methods.deleteLoadBalancer)];
  const service = new LoadBalancerService(runtime, handlers, new NodeResolver(runtime.ids));
  return [
    unary(methods.getLoadBalancer, (request, call) => service.get(request, call)),
    unary(methods.ensureLoadBalancer, (request, call) => service.ensure(request, call)),
    unary(methods.deleteLoadBalancer, (request, call) => service.delete(request, call)),
    unary(methods.updateLoadBalancerNodes, (request, call) => service.updateNodes(request, call)),
  ];
};

const absent = (
  method:
    | typeof methods.batchGetInstances
    | typeof methods.getLoadBalancer
    | typeof methods.ensureLoadBalancer
    | typeof methods.deleteLoadBalancer,
): RpcMethod =>
  unary({ ...methods.getProviderStatus, name: method.name, options: method.options }, () => {
    throw new ProviderError("CAPABILITY_ABSENT", `This provider does not serve ${method.name}`);
  });
