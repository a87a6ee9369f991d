export {
  type Fault,
  type FaultScope,
  type InjectedFault,
} from "./fake-cloud/fault.ts";
export { FakeCloudError } from "./fake-cloud/routes.ts";
export type {
  FakeCloudResponse,
  FakeCloudHandler,
  FakeCloudRequest,
  FakeCloudRoutes,
} from "./fake-cloud/routes.ts";
export {
  type FakeCloud,
  type FakeCloudOptions,
  type SeenRequest,
  startFakeCloud,
} from "./fake-cloud/start-fake-cloud.ts";
export type { FakeTable, TableBehavior, TablePage } from "./fake-cloud/table.ts";
export { ProviderCallError } from "./provider-client.ts";
export {
  connectToProvider,
  type ProviderCallOptions,
  type ProviderClient,
  type ProviderClientOptions,
  type StreamCall,
  type UnaryCall,
} from "./provider-client.ts";
export { type EnsureRequest, ensureRequest, type EnsureRequestOptions, serviceRef } from "./requests.ts";
export { startTestProvider, type TestProvider, type TestProviderOptions } from "./start-test-provider.ts";
export { createTestClock, type TestClock } from "./test-clock.ts";
export { servicePort, desiredLoadBalancer } from "./desired-load-balancer.ts";
