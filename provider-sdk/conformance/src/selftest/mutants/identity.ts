import { randomUUID } from "node:crypto";
import { HealthCheckResponse_ServingStatus, HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import { methods } from "../../contract/methods.ts";
import { ServerReflectionDefinition } from "@cloudwire/proto/grpc/reflection/v1/reflection";
import type { ServerReflectionResponse } from "@cloudwire/proto/grpc/reflection/v1/reflection";
import { editField, parseFile } from "../../endpoint/reflection.ts";
import { alterResponse, bareError, isCall, type Mutant, messageOf, okReply, requestOf, replyIf } from "../mutant.ts";

const health = HealthDefinition;
const reflection = ServerReflectionDefinition;
const info = methods.getProviderInfo;
const status = methods.getProviderStatus;

const alterInfo = (alter: Parameters<typeof alterResponse<ReturnType<typeof info.responseType.decode>>>[1]) =>
  alterResponse(info, alter);

const alterReflection = (alter: (answer: ServerReflectionResponse) => ServerReflectionResponse) =>
  alterResponse(reflection.methods.serverReflectionInfo, alter, reflection.fullName);

const healthOf = (text: (service: string) => boolean, answer: Parameters<typeof replyIf>[1]) =>
  replyIf((request) => {
    const question = requestOf(request, health.methods.check, health.fullName);
    return question !== undefined && text(question.service);
  }, answer);

const healthReply = (answer: HealthCheckResponse_ServingStatus) =>
  okReply(health.methods.check.responseType.encode({ status: answer }).finish());

const later = <Value>(value: Value, ms: number): Promise<Value> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(value), ms);
  });

let turn = 0;

/** Faults of what a provider says of itself. */
export const identityMutants: readonly Mutant[] = [
  {
    name: "no-version",
    fault: "the handshake has no version",
    fails: ["info.fields.required"],
    intercept: alterInfo((answer) => ({ ...answer, version: "" })),
  },
  {
    name: "name-spaces",
    fault: "the name is My Cloud",
    fails: ["info.fields.required", "info.name.format"],
    intercept: alterInfo((answer) => ({ ...answer, name: "My Cloud" })),
  },
  {
    name: "random-order",
    fault: "services are listed in another order each time",
    fails: ["info.stable"],
    intercept: alterInfo((answer) => ({
      ...answer,
      services: turn++ % 2 === 0 ? answer.services : answer.services.toReversed(),
    })),
  },
  {
    name: "boot-per-call",
    fault: "each handshake has another boot_id",
    fails: ["info.boot.constant", "info.stable", "proc.panic.isolated", "status.boot-match"],
    intercept: alterInfo((answer) => ({ ...answer, bootId: randomUUID() })),
  },
  {
    name: "boot-other",
    fault: "the status has another boot_id than the handshake",
    fails: ["status.boot-match"],
    intercept: alterResponse(status, (answer) => ({ ...answer, bootId: "another" })),
  },
  {
    name: "major-2",
    fault: "contract_major is 2",
    fails: ["info.version.major"],
    intercept: alterInfo((answer) => ({ ...answer, contractMajor: 2 })),
  },
  {
    name: "overclaims",
    fault: "volumes are claimed and not served",
    fails: [
      "compat.golden",
      "compat.v1-0-client",
      "err.frame.garbage",
      "err.info.present",
      "info.caps.truthful",
      "val.cluster.missing",
      "val.fields.batch-get-volumes",
      "val.scope.mismatch",
      "vol.absent.malformed",
      "vol.absent.never",
      "vol.batch.empty",
      "vol.batch.max",
      "vol.batch.over",
      "vol.get.found",
      "vol.no-source",
      "vol.not-owned",
      "vol.scope.echo",
    ],
    intercept: replyIf((request) => isCall(request, "BatchGetVolumes"), bareError(12, "not here")),
  },
  {
    name: "underclaims",
    fault: "routes are served and not claimed",
    fails: ["info.caps.unclaimed"],
    intercept: alterInfo((answer) => ({
      ...answer,
      capabilities: answer.capabilities && { ...answer.capabilities, routes: undefined },
    })),
  },
  {
    name: "no-caps",
    fault: "nothing is claimed",
    fails: ["info.caps.nonempty", "info.caps.unclaimed"],
    intercept: alterInfo((answer) => ({
      ...answer,
      capabilities: { instances: undefined, loadBalancers: undefined, routes: undefined, volumes: undefined },
    })),
  },
  {
    name: "soft-duration-90s",
    fault: "soft_call_duration is 90 s",
    fails: ["info.limits.sane"],
    intercept: alterInfo((answer) => ({
      ...answer,
      limits: answer.limits && { ...answer.limits, softCallDuration: { seconds: 90n, nanos: 0 } },
    })),
  },
  {
    name: "prefix-bare",
    fault: "a second provider ID prefix is a bare word",
    fails: ["info.prefix.format"],
    intercept: alterInfo((answer) => ({ ...answer, providerIdPrefixes: [...answer.providerIdPrefixes, "acme"] })),
  },
  {
    name: "any-annotation",
    fault: "all annotations are wanted",
    fails: ["info.extras.qualified"],
    intercept: alterInfo((answer) => ({ ...answer, annotationPrefixes: ["*"] })),
  },
  {
    name: "info-asks-cloud",
    fault: "the handshake takes a second",
    fails: ["info.fast"],
    // Every other check would wait a second for each handshake.
    only: ["info.fast"],
    intercept: async (request, next) =>
      isCall(request, info.name) ? later(await next(request), 1_000) : next(request),
  },
  {
    name: "rejects-future-client",
    fault: "a client of a later minor is refused",
    fails: ["info.client.future"],
    intercept: replyIf((request) => requestOf(request, info)?.client?.contractMinor === 999, bareError(9, "too new")),
  },
  {
    name: "strict-decoder",
    fault: "unknown fields are refused",
    fails: ["info.client.unknown-fields"],
    intercept: replyIf((request) => request.body.includes("new!"), bareError(3, "unknown field 15000")),
  },
  {
    name: "handshake-first",
    fault: "a connection that does not begin with the handshake is refused",
    fails: ["info.any-order"],
    // Whichever check finds its connection cut makes another: which that is the order decides.
    only: ["info.any-order"],
    intercept: replyIf(
      (request) => request.earlier === 0 && !isCall(request, info.name),
      bareError(9, "shake hands first"),
    ),
  },
  {
    name: "health-not-serving",
    fault: 'health of "" is NOT_SERVING',
    fails: ["health.overall"],
    intercept: healthOf((service) => service === "", healthReply(HealthCheckResponse_ServingStatus.NOT_SERVING)),
  },
  {
    name: "health-no-service",
    fault: 'health is there for "" only',
    fails: ["health.service"],
    intercept: healthOf((service) => service.startsWith("cloudprovider"), bareError(5, "unknown service")),
  },
  {
    name: "health-yes",
    fault: "health is SERVING for any name",
    fails: ["health.unknown"],
    intercept: healthOf(() => true, healthReply(HealthCheckResponse_ServingStatus.SERVING)),
  },
  {
    name: "status-empty",
    fault: "the status has no conditions",
    fails: ["status.shape"],
    intercept: alterResponse(status, (answer) => ({ ...answer, conditions: [] })),
  },
  {
    name: "status-needs-context",
    fault: "the status is refused to a caller without cluster",
    fails: ["compat.v1-0-client", "status.no-context"],
    intercept: replyIf(
      (request) => isCall(request, status.name) && (messageOf(request.body)?.length ?? 0) === 0,
      bareError(3, "context is required"),
    ),
  },
  {
    name: "status-uncached",
    fault: "the status takes a second",
    fails: ["status.cheap"],
    // Every other check that asks for the status would wait for it.
    only: ["status.cheap"],
    intercept: async (request, next) =>
      isCall(request, status.name) ? later(await next(request), 1_000) : next(request),
  },
  {
    name: "no-reflection",
    fault: "reflection is not served",
    fails: ["reflect.lists"],
    intercept: replyIf((request) => request.path.includes("grpc.reflection"), bareError(12, "no such service")),
  },
  {
    name: "reflect-no-wkt",
    fault: "reflection does not know the well-known types",
    fails: ["reflect.resolves"],
    intercept: alterReflection((answer) => {
      const response = answer.messageResponse;
      if (response?.$case !== "fileDescriptorResponse") return answer;
      const files = response.value.fileDescriptorProto.filter((file) => !parseFile(file).name.startsWith("google/"));
      const gone = { $case: "errorResponse", value: { errorCode: 5, errorMessage: "not found" } } as const;
      const left = { ...response, value: { fileDescriptorProto: files } };
      return { ...answer, messageResponse: files.length === 0 ? gone : left };
    }),
  },
  {
    name: "forked-proto",
    fault: "a field has another number in the provider's own copy of the contract",
    fails: ["reflect.compatible"],
    intercept: alterReflection((answer) => {
      const response = answer.messageResponse;
      if (response?.$case !== "fileDescriptorResponse") return answer;
      const files = response.value.fileDescriptorProto.map((file) => editField(file, "NodeRef", "provider_id", 99));
      return { ...answer, messageResponse: { ...response, value: { fileDescriptorProto: files } } };
    }),
  },
  {
    name: "debug-service",
    fault: "a debug service is on the socket and in no list",
    fails: ["sec.services.only"],
    intercept: alterReflection((answer) => {
      const response = answer.messageResponse;
      if (response?.$case !== "listServicesResponse") return answer;
      const service = [...response.value.service, { name: "acme.debug.v1.Debug" }];
      return { ...answer, messageResponse: { ...response, value: { service } } };
    }),
  },
];
