import { channelParts, parseProviderAddress } from "../../src/provider/connection/address.ts";
import { GrpcTransport } from "../../src/provider/connection/transport.ts";
import { type Rpc, RPCS } from "../../src/provider/convert/methods.ts";
import { type Answer, heldResponse } from "../../src/provider/convert/response.ts";
import type { Breach } from "../../src/provider/model/breach.ts";
import { ProviderError } from "../../src/provider/model/errors.ts";
import { sleep } from "../../src/util/abort.ts";
import { systemClock } from "../../src/util/clock.ts";
import { StringCache } from "../../src/util/string-cache.ts";
import { refs } from "../support/provider/client-harness.ts";
import { ProviderHarness } from "../support/provider/provider-harness.ts";
import { brokenReply } from "./broken-answers.ts";

/** What the test asserts about the process, which has two providers. */
export interface Findings {
  readonly answers: number;
  /** Failures that are not errors of a provider, and accepted responses with control characters. */
  readonly problems: readonly string[];
  readonly breaches: Readonly<Record<string, number>>;
  readonly listErrors: readonly string[];
  readonly healthyCalls: number;
  readonly healthyFailures: readonly string[];
  readonly peakRssBytes: number;
}

const [hostileAddress = "", healthyAddress = "", answersText = "0"] = process.argv.slice(2);
const PARALLEL_CALLS = 16;
const CALL_TIMEOUT_MS = 2000;
const FRAME_HEADER_BYTES = 5;
const strings = new StringCache();

let peakRssBytes = 0;
setInterval(() => (peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss())), 20).unref();

await using healthyHarness = await ProviderHarness.create();
await using hostileHarness = await ProviderHarness.create();
const { signal } = hostileHarness;
const healthy = healthyHarness.connect({ name: "healthy", address: healthyAddress });
const hostile = hostileHarness.connect({ name: "hostile", address: hostileAddress });
await healthyHarness.ready(healthy);
await hostileHarness.ready(hostile);

const breaches: Record<string, number> = {};
const count = ({ rule }: Breach): void => void (breaches[rule] = (breaches[rule] ?? 0) + 1);
const problems: string[] = [];
let answers = 0;
const parsed = parseProviderAddress(hostileAddress);
if (parsed.kind === "problem") throw new Error(parsed.problem);
const transport = new GrpcTransport({
  provider: "hostile",
  version: "fuzz",
  channel: channelParts(parsed.value, undefined, undefined),
  breaches: count,
});

async function call<Request, Response>(rpc: Rpc<Request, Response>): Promise<void> {
  const request = rpc.request.decode(new Uint8Array());
  const options = { signal, requestId: "r-1", traceparent: "", timeoutMs: CALL_TIMEOUT_MS };
  answers++;
  try {
    const response = await transport.unary(rpc, request, options);
    const text = JSON.stringify(rpc.response.toJSON(response));
    if (/\\u00[01]/.test(text)) problems.push(`${rpc.name} was accepted: ${text.slice(0, 300)}`);
  } catch (error) {
    if (!(error instanceof ProviderError)) problems.push(`${rpc.name} failed with ${String(error)}`);
  }
}

const CALLS: readonly (() => Promise<void>)[] = [
  () => call(RPCS.getProviderInfo),
  () => call(RPCS.getProviderStatus),
  () => call(RPCS.batchGetInstances),
  () => call(RPCS.listInstances),
  () => call(RPCS.getLoadBalancer),
  () => call(RPCS.listLoadBalancers),
  () => call(RPCS.ensureLoadBalancer),
  () => call(RPCS.updateLoadBalancerNodes),
  () => call(RPCS.deleteLoadBalancer),
  () => call(RPCS.applyNodeSet),
  () => call(RPCS.listRoutes),
  () => call(RPCS.batchEnsureRoutes),
  () => call(RPCS.batchDeleteRoutes),
  () => call(RPCS.batchGetVolumes),
];

const healthyFailures: string[] = [];
let healthyCalls = 0;
const end = new AbortController();

async function callHealthy(): Promise<void> {
  while (!end.signal.aborted) {
    healthyCalls++;
    const results = await healthy.client.getInstances(refs(3), { signal, maxDataAgeMs: 0 });
    const failed = results.filter(({ kind }) => kind !== "present");
    if (failed.length > 0) healthyFailures.push(JSON.stringify(failed));
    await sleep(10, end.signal, systemClock()).catch(() => undefined);
  }
}

async function errorsOf(calls: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((result) => (result.status === "rejected" ? String(result.reason) : JSON.stringify(result.value)));
}

async function watchFlood(): Promise<void> {
  for await (const _ of transport.stream(RPCS.watchInstances, RPCS.watchInstances.request.decode(new Uint8Array()), {
    signal,
    requestId: "r-1",
    traceparent: "",
  })) {
    answers++;
  }
}

/** Holds the message of a broken reply to the contract, without a connection. */
function hold<Response>(rpc: Answer<Response>, index: number): void {
  answers++;
  const [first] = brokenReply(rpc.name, index).frames ?? [];
  if (first === undefined) return;
  const held = heldResponse(rpc, first.subarray(FRAME_HEADER_BYTES), { nowMs: Date.now(), strings });
  if (held.kind === "broken") return count(held.breach);
  const text = JSON.stringify(rpc.response.toJSON(held.response));
  if (/\\u00[01]/.test(text)) problems.push(`${rpc.name} was accepted: ${text.slice(0, 300)}`);
}

const HOLDS: readonly ((index: number) => void)[] = [
  (index) => hold(RPCS.batchGetInstances, index),
  (index) => hold(RPCS.listInstances, index),
  (index) => hold(RPCS.watchInstances, index),
  (index) => hold(RPCS.getLoadBalancer, index),
  (index) => hold(RPCS.listLoadBalancers, index),
  (index) => hold(RPCS.ensureLoadBalancer, index),
  (index) => hold(RPCS.deleteLoadBalancer, index),
  (index) => hold(RPCS.watchLoadBalancers, index),
  (index) => hold(RPCS.listRoutes, index),
  (index) => hold(RPCS.batchEnsureRoutes, index),
  (index) => hold(RPCS.batchGetVolumes, index),
];

const checkingHealthy = callHealthy();
const total = Number(answersText);
const totalOverGrpc = Math.ceil(total / 10);
const callsOfWorker = Math.ceil(totalOverGrpc / PARALLEL_CALLS);
const worker = async (): Promise<void> => {
  for (let made = 0; made < callsOfWorker; made++) await CALLS[answers % CALLS.length]?.();
};
await Promise.all([
  ...Array.from({ length: PARALLEL_CALLS }, worker),
  watchFlood().catch((error: unknown) => {
    if (!(error instanceof ProviderError)) problems.push(`the watch failed with ${String(error)}`);
  }),
]);
for (let index = totalOverGrpc; index < total; index++) {
  HOLDS[index % HOLDS.length]?.(index);
  // The calls to the healthy provider continue.
  if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
}
const { client } = hostile;
const listErrors = await errorsOf([
  client.listInstances({ signal }),
  client.listLoadBalancers({ signal }),
  client.listRoutes({ signal }),
  client.getInstances(refs(4), { signal, maxDataAgeMs: 0 }),
]);
end.abort();
await checkingHealthy;
const findings: Findings = {
  answers,
  problems: problems.slice(0, 20),
  breaches,
  listErrors,
  healthyCalls,
  healthyFailures: healthyFailures.slice(0, 20),
  peakRssBytes,
};
process.stdout.write(JSON.stringify(findings));
