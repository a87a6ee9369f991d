import { setTimeout as wait } from "node:timers/promises";
import { AbsenceBasis, ConditionStatus } from "@cloudwire/proto/cloudprovider/v1/common";
import type { GetProviderInfoResponse, GetProviderStatusResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import { HealthCheckResponse_ServingStatus, HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import { isClaimed } from "../../contract/capabilities.ts";
import { methods, serviceName } from "../../contract/methods.ts";
import { client } from "../../endpoint/reach.ts";
import { frame } from "../../endpoint/frames.ts";
import {
  alterResponse,
  bareError,
  type ErrorParts,
  errorParts,
  errorReply,
  isCall,
  messageOf,
  type Mutant,
  okReply,
  requestOf,
} from "../mutant.ts";
import type { Intercept, ProxiedReply, ProxiedRequest } from "../mutant-proxy.ts";

const { batchGetInstances, batchGetVolumes, getLoadBalancer, listInstances, listLoadBalancers, listRoutes } = methods;
type Next = Parameters<Intercept>[1];

const level = "D";
/** For faults that show themselves by something that never happens. */
const patience = 0.1;

/** Every check in which an error could become an absence. */
const absences = ["inst.absent.*", "lb.absent.*", "vol.absent.*", "list.outage", "lb.list.outage", "route.list.outage"];

const failures = [
  { name: "auth", fault: "refused credentials", reasons: ["CLOUD_CREDENTIALS_INVALID", "CLOUD_PERMISSION_DENIED"] },
  { name: "outage", fault: "an outage", reasons: ["CLOUD_UNAVAILABLE", "CLOUD_TIMEOUT"] },
  { name: "throttle", fault: "throttling", reasons: ["RATE_LIMITED"] },
] as const;

const absent = {
  $case: "absent",
  value: { basis: AbsenceBasis.LOOKUP_MISS, observeTime: new Date(0), stronglyConsistent: true },
} as const;

const absentResult = { outcome: absent, readTime: undefined };

/** Questions, and what a provider answers that knows of nothing. */
const questions = [
  {
    prefix: "inst.absent",
    method: batchGetInstances.name,
    none: (request: ProxiedRequest): Uint8Array => {
      const count = requestOf(request, batchGetInstances)?.nodes.length ?? 0;
      const results = Array.from({ length: count }, () => absentResult);
      return batchGetInstances.responseType.encode(batchGetInstances.responseType.fromPartial({ results })).finish();
    },
  },
  {
    prefix: "lb.absent",
    method: getLoadBalancer.name,
    none: (): Uint8Array =>
      getLoadBalancer.responseType.encode(getLoadBalancer.responseType.fromPartial({ outcome: absent })).finish(),
  },
  {
    prefix: "vol.absent",
    method: batchGetVolumes.name,
    none: (request: ProxiedRequest): Uint8Array => {
      const count = requestOf(request, batchGetVolumes)?.volumes.length ?? 0;
      const results = Array.from({ length: count }, () => absentResult);
      return batchGetVolumes.responseType.encode(batchGetVolumes.responseType.fromPartial({ results })).finish();
    },
  },
] as const;

/** Answers by itself where the cloud's failure is one of those. */
const forgiven =
  (method: string, reasons: readonly string[], reply: (request: ProxiedRequest) => Uint8Array): Intercept =>
  async (request, next) => {
    const got = await next(request);
    if (!isCall(request, method)) return got;
    const reason = errorParts(got)?.reason ?? itemReason(request, got);
    return reason !== undefined && reasons.includes(reason) ? okReply(reply(request)) : got;
  };

/** The reason of the first item that is unknown. */
const itemReason = (request: ProxiedRequest, reply: ProxiedReply): string | undefined => {
  const bytes = isCall(request, batchGetInstances.name) ? messageOf(reply.body) : undefined;
  const results = bytes === undefined ? [] : batchGetInstances.responseType.decode(bytes).results;
  for (const { outcome } of results) if (outcome?.$case === "unknown") return outcome.value.reason;
  return undefined;
};

const absenceMutants: readonly Mutant[] = questions.flatMap(({ prefix, method, none }) =>
  failures.map(
    ({ name, fault, reasons }): Mutant => ({
      name: `${name}-is-absent-${method}`,
      fault: `${method} takes ${fault} for an absence`,
      fails: [`${prefix}.${name}`],
      level,
      only: absences,
      intercept: forgiven(method, reasons, none),
    }),
  ),
);

const [machineQuestion] = questions;

/** Lists, and one that is empty: its bytes are none, but for the word that it is complete. */
const lists = [
  { id: "list.outage", method: listInstances.name, bytes: Buffer.from([5 << 3, 1]) },
  { id: "lb.list.outage", method: listLoadBalancers.name, bytes: Buffer.alloc(0) },
  { id: "route.list.outage", method: listRoutes.name, bytes: Buffer.alloc(0) },
] as const;

const listMutants: readonly Mutant[] = [
  ...lists.map(
    ({ id, method, bytes }): Mutant => ({
      name: `empty-on-outage-${method}`,
      fault: `${method} is empty while the cloud cannot be reached`,
      fails: [id],
      level,
      patience,
      only: absences,
      intercept: forgiven(method, failures[1].reasons, () => bytes),
    }),
  ),
  {
    name: "zone-is-absent",
    fault: "machines of a zone that cannot be read are absent",
    fails: ["inst.absent.zone"],
    level,
    only: [...absences, "list.unreachable"],
    intercept: forgiven(machineQuestion.method, ["ZONE_UNREACHABLE"], machineQuestion.none),
  },
  {
    name: "zone-left-out",
    fault: "a list that lacks a zone says that it is complete",
    fails: ["list.unreachable"],
    level,
    only: [...absences, "list.unreachable"],
    intercept: alterResponse(listInstances, (answer) =>
      answer.unreachable.length > 0 ? { ...answer, unreachable: [], complete: true } : answer,
    ),
  },
];

/** A call that needs the cloud and whose response is ignored: made on the handshake. */
const cloudCall = (request: ProxiedRequest, { scopeId, capabilities }: GetProviderInfoResponse): ProxiedRequest => {
  const context = { cluster: { id: "conformance-mutant", name: "mutant" }, scopeId };
  const method = isClaimed(capabilities, "routes") ? listRoutes : listInstances;
  const bytes = method.requestType.encode(method.requestType.fromPartial({ context, pageSize: 1 })).finish();
  return { ...request, path: `/${serviceName}/${method.name}`, body: frame(bytes) };
};

/** Asks the cloud; whether it answers. */
const cloudAnswers = async (request: ProxiedRequest, next: Next): Promise<boolean> => {
  const { name, requestType, responseType } = methods.getProviderInfo;
  const body = frame(requestType.encode(requestType.fromPartial({ client })).finish());
  const bytes = messageOf((await next({ ...request, path: `/${serviceName}/${name}`, body })).body);
  if (bytes === undefined) return false;
  return (await next(cloudCall(request, responseType.decode(bytes)))).trailers["grpc-status"] === "0";
};

const notServing = (): ProxiedReply => {
  const { responseType } = HealthDefinition.methods.check;
  return okReply(responseType.encode({ status: HealthCheckResponse_ServingStatus.NOT_SERVING }).finish());
};

const conditionsOf = (answer: GetProviderStatusResponse, type: string): GetProviderStatusResponse["conditions"] =>
  answer.conditions.map((condition) =>
    condition.type === type ? { ...condition, status: ConditionStatus.TRUE } : condition,
  );

const offline: readonly Mutant[] = [
  {
    name: "info-calls-cloud",
    fault: "the handshake asks the cloud",
    fails: ["info.offline"],
    level,
    only: ["info.offline", "health.independent"],
    intercept: async (request, next) => {
      const isHandshake = isCall(request, methods.getProviderInfo.name);
      return isHandshake && !(await cloudAnswers(request, next)) ? bareError(14, "no cloud") : next(request);
    },
  },
  {
    name: "health-cloud",
    fault: "health follows the cloud",
    fails: ["health.independent"],
    level,
    only: ["info.offline", "health.independent"],
    intercept: async (request, next) => {
      const isHealth = isCall(request, HealthDefinition.methods.check.name, HealthDefinition.fullName);
      return isHealth && !(await cloudAnswers(request, next)) ? notServing() : next(request);
    },
  },
  {
    name: "status-always-ready",
    fault: "the status is always ready",
    fails: ["status.cred-expiry", "status.outage"],
    level,
    patience,
    only: ["status.cred-expiry", "status.outage"],
    intercept: alterResponse(methods.getProviderStatus, (answer) => ({ ...answer, ready: true })),
  },
  {
    name: "cred-blind",
    fault: "credentials are always valid",
    fails: ["status.cred-expiry"],
    level,
    patience,
    only: ["status.cred-expiry", "status.outage"],
    intercept: alterResponse(methods.getProviderStatus, (answer) => ({
      ...answer,
      conditions: conditionsOf(answer, "CredentialsValid"),
    })),
  },
  {
    name: "status-asks-cloud",
    fault: "each status is a call of the cloud",
    fails: ["status.flat"],
    level,
    only: ["status.flat"],
    intercept: async (request, next) => {
      if (isCall(request, methods.getProviderStatus.name)) await cloudAnswers(request, next);
      return next(request);
    },
  },
];

/** Changes errors with a reason. */
const altered =
  (reason: string, alter: (parts: ErrorParts) => ErrorParts | "hang"): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const parts = errorParts(reply);
    if (parts?.reason !== reason) return reply;
    const after = alter(parts);
    return after === "hang" ? after : errorReply(reply, after);
  };

const only = ["fault.cloud.*"];

const errors: readonly Mutant[] = [
  {
    name: "no-retryinfo",
    fault: "throttling does not say how long",
    fails: ["fault.cloud.429"],
    level,
    only,
    intercept: altered("RATE_LIMITED", (parts) => ({
      ...parts,
      details: parts.details.filter(({ typeUrl }) => !typeUrl.endsWith(".RetryInfo")),
    })),
  },
  {
    name: "5xx-internal",
    fault: "a server error of the cloud is INTERNAL",
    fails: ["fault.cloud.5xx"],
    level,
    only,
    intercept: altered("CLOUD_UNAVAILABLE", (parts) => ({ ...parts, code: 13 })),
  },
  {
    name: "no-cloud-timeout",
    fault: "a call waits for the cloud for ever",
    fails: ["fault.cloud.hang"],
    level,
    only,
    intercept: altered("CLOUD_TIMEOUT", () => "hang"),
  },
  {
    name: "quota-unavailable",
    fault: "a quota that is used up is UNAVAILABLE",
    fails: ["fault.cloud.quota"],
    level,
    only,
    intercept: altered("QUOTA_EXCEEDED", (parts) => ({ ...parts, code: 14 })),
  },
  {
    name: "creds-at-start",
    fault: "credentials are read once",
    fails: ["fault.cred.rotate"],
    level,
    patience,
    only: ["fault.cred.rotate"],
    // The cloud has new ones, and the provider never finds them.
    hooks: ({ credRevoke, ...hooks }) => ({ ...hooks, ...(credRevoke && { credRevoke, credRotate: credRevoke }) }),
  },
  {
    name: "ignores-cancel",
    fault: "a call that was cancelled goes on asking the cloud",
    fails: ["time.cancel.stops"],
    level,
    only: ["time.cancel.stops"],
    deafToCancel: true,
    intercept: async (request, next) => {
      if (isCall(request, listRoutes.name)) void goOn(request, next);
      return next(request);
    },
  },
];

const goOn = async (request: ProxiedRequest, next: Next): Promise<void> => {
  for (let round = 0; round < 40; round++) {
    await wait(300, undefined, { ref: false });
    await next(request);
  }
};

/** How long a new machine is hidden by a fault. */
const hiddenMs = 2_000;

/** Machines that the kit has made, and when they were first asked for. */
const firstAskedMs = new Map<string, number>();
const isYoung = ({ name, providerId }: { readonly name: string; readonly providerId: string }): boolean => {
  const firstMs = firstAskedMs.get(providerId) ?? performance.now();
  firstAskedMs.set(providerId, firstMs);
  return name.startsWith("conformance-") && performance.now() < firstMs + hiddenMs;
};

const machines: readonly Mutant[] = [
  {
    name: "eager-absent",
    fault: "a machine is absent for its first seconds",
    fails: ["inst.state.young"],
    level,
    only: ["inst.state.young", "inst.state.follows"],
    intercept: async (request, next) => {
      const nodes = requestOf(request, batchGetInstances)?.nodes ?? [];
      return alterResponse(batchGetInstances, (answer) => ({
        ...answer,
        results: answer.results.map((result, index) => {
          const node = nodes[index];
          return node !== undefined && isYoung(node) ? { ...result, outcome: absent } : result;
        }),
      }))(request, next);
    },
  },
  {
    name: "stopped-is-gone",
    fault: "a machine that is stopped is absent",
    fails: ["inst.state.follows"],
    level,
    only: ["inst.state.young", "inst.state.follows"],
    intercept: alterResponse(batchGetInstances, (answer) => ({
      ...answer,
      results: answer.results.map((result) =>
        result.outcome?.$case === "instance" && result.outcome.value.state === InstanceState.STOPPED
          ? { ...result, outcome: absent }
          : result,
      ),
    })),
  },
];

/** Faults that a cloud has to be broken for, or changed, to be seen. */
export const faultMutants: readonly Mutant[] = [...absenceMutants, ...listMutants, ...offline, ...errors, ...machines];
