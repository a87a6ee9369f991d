import { createHash } from "node:crypto";
import type { MethodName } from "@cloudwire/proto/methods";
import type { EventInput } from "../../api/event.ts";
import type { AuditOptions } from "../../telemetry/options.ts";
import type { Work } from "../../observe/work.ts";
import { AuditLog, type AuditSink, auditMetrics } from "../../telemetry/audit-log.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import {
  type JsonRecord,
  booleanField,
  isRecord,
  numberField,
  recordField,
  recordsField,
  stringField,
  stringsField,
} from "../../util/json.ts";
import { type FieldRules, withoutSecrets } from "@cloudwire/proto/secrets";
import { RPCS, requestMessage, responseMessage } from "../convert/methods.ts";
import { canonicalJson } from "../convert/scalars.ts";
import { epochOf } from "../model/client.ts";
import { type ProviderError, type ProviderErrorCode, codeName } from "../model/errors.ts";
import type { CallSink } from "./observed-caller.ts";
import { loadBalancerCalled, routeCalled } from "./events.ts";

/** Receives a line per change. Never blocks or throws. */
export interface ChangeAudit {
  write(line: AuditLine): void;
  /** A line could not be written. */
  drop(error: unknown): void;
}

/** Writes each call that may have changed something to the audit log. */
export function auditedCalls(audit: ChangeAudit, rules?: FieldRules): CallSink {
  return {
    ended: ({ rpc, request, outcome, ...call }) => {
      if (!rpc.isChange) return;
      const method = rpc.name;
      try {
        const shown = withoutSecrets(requestMessage(method), rpc.request.toJSON(request), rules);
        const ended =
          outcome.kind === "failed"
            ? { error: outcome.error }
            : { response: withoutSecrets(responseMessage(method), rpc.response.toJSON(outcome.response), rules) };
        audit.write(auditLine({ ...call, method, request: shown, outcome: ended }));
      } catch (error) {
        audit.drop(error);
      }
    },
  };
}

/** A finished call that may have changed something. */
export interface AuditedCall {
  readonly provider: string;
  readonly method: MethodName;
  readonly requestId: string;
  /** undefined: not part of a reconcile. */
  readonly work: Pick<Work, "controller" | "key" | "reconcileID" | "version"> | undefined;
  /** Start, wall clock. */
  readonly startMs: number;
  readonly durationMs: number;
  /** JSON without secrets. */
  readonly request: unknown;
  readonly outcome: { readonly response: unknown } | { readonly error: ProviderError };
}

export interface AuditedRoute {
  readonly destinationCidr: string;
  readonly node: string;
  readonly targetProviderID: string;
  /** undefined: the call as a whole failed. */
  readonly code: ProviderErrorCode | "OK" | undefined;
  readonly reason: string | undefined;
}

/** One line of the audit log, see docs/reference/audit-log.md. */
export interface AuditLine {
  readonly time: string;
  readonly controller: string | undefined;
  readonly key: string | undefined;
  readonly reconcileID: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly generation: number | undefined;
  readonly trigger: string | undefined;
  readonly provider: string;
  readonly method: MethodName;
  readonly requestID: string;
  readonly validateOnly: boolean;
  readonly sequence: string | undefined;
  readonly epoch: number | undefined;
  readonly service: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  readonly loadBalancerID: string | undefined;
  readonly specFingerprint: string | undefined;
  readonly nodesFingerprint: string | undefined;
  readonly nodeSetID: string | undefined;
  readonly routes: readonly AuditedRoute[] | undefined;
  readonly requestDigest: string;
  readonly code: ProviderErrorCode | "OK";
  readonly reason: string | undefined;
  readonly done: boolean | undefined;
  readonly cloudCalls: number | undefined;
  readonly cloudMutations: number | undefined;
  readonly cloudRequestIDs: readonly string[];
  readonly durationMs: number;
}

export function auditLine(call: AuditedCall): AuditLine {
  const { provider, method, requestId, work, outcome } = call;
  const request = isRecord(call.request) ? call.request : {};
  const change = recordField(request, "change");
  const response = "response" in outcome && isRecord(outcome.response) ? outcome.response : {};
  const error = "error" in outcome ? outcome.error : undefined;
  return {
    time: new Date(call.startMs).toISOString(),
    ...origin(work),
    trigger: nonEmpty(stringField(change, "trigger")),
    provider,
    method,
    requestID: requestId,
    validateOnly: booleanField(change, "validateOnly"),
    ...place(change),
    ...subject(request, response),
    routes: routesOf(request, error === undefined ? response : undefined),
    requestDigest: digest(request),
    code: error?.code ?? "OK",
    reason: nonEmpty(error?.reason ?? ""),
    done: method === RPCS.deleteLoadBalancer.name && error === undefined ? booleanField(response, "done") : undefined,
    ...cost(response, error),
    durationMs: Math.round(call.durationMs * 1000) / 1000,
  };
}

function origin(
  work: AuditedCall["work"],
): Pick<AuditLine, "controller" | "key" | "reconcileID" | "resourceVersion" | "generation"> {
  const { resourceVersion = "", generation = 0 } = work?.version ?? {};
  return {
    controller: work?.controller,
    key: work?.key,
    reconcileID: work?.reconcileID,
    resourceVersion: nonEmpty(resourceVersion),
    generation: generation === 0 ? undefined : generation,
  };
}

function place(change: JsonRecord): Pick<AuditLine, "sequence" | "epoch"> {
  const sequence = stringField(change, "sequence");
  if (sequence === "" || sequence === "0") return { sequence: undefined, epoch: undefined };
  return { sequence, epoch: epochOf(sequence) };
}

function subject(
  request: JsonRecord,
  response: JsonRecord,
): Pick<AuditLine, "service" | "loadBalancerID" | "specFingerprint" | "nodesFingerprint" | "nodeSetID"> {
  const service = recordField(request, "service");
  const [namespace = "", name = "", uid = ""] = ["namespace", "name", "uid"].map((key) => stringField(service, key));
  const known = stringField(request, "loadBalancerId");
  const fingerprint = stringField(recordField(request, "nodes"), "fingerprint");
  return {
    service: isRecord(request["service"]) ? { namespace, name, uid } : undefined,
    loadBalancerID: nonEmpty(known) ?? nonEmpty(stringField(recordField(response, "loadBalancer"), "id")),
    specFingerprint: nonEmpty(stringField(request, "specFingerprint")),
    nodesFingerprint: nonEmpty(fingerprint) ?? nonEmpty(stringField(request, "targetFingerprint")),
    nodeSetID: nonEmpty(stringField(request, "nodeSetId")),
  };
}

/** Each route with its result, if the response has one per route. */
function routesOf(request: JsonRecord, response: JsonRecord | undefined): readonly AuditedRoute[] | undefined {
  if (request["routes"] === undefined) return undefined;
  const errors = response && recordsField(response, "results", (result) => recordField(result, "error"));
  const routes = recordsField(request, "routes", (route) => route);
  const areAnswered = errors?.length === routes.length;
  return routes.map((route, index) => ({
    destinationCidr: stringField(route, "destinationCidr"),
    node: stringField(route, "targetNodeName"),
    targetProviderID: stringField(route, "targetProviderId"),
    ...resultOf(areAnswered ? errors[index] : undefined),
  }));
}

function resultOf(error: JsonRecord | undefined): Pick<AuditedRoute, "code" | "reason"> {
  if (error === undefined) return { code: undefined, reason: undefined };
  const code = numberField(error, "code");
  return { code: code === 0 ? "OK" : codeName(code), reason: nonEmpty(stringField(error, "reason")) };
}

function cost(
  response: JsonRecord,
  error: ProviderError | undefined,
): Pick<AuditLine, "cloudCalls" | "cloudMutations" | "cloudRequestIDs"> {
  if (error !== undefined) {
    return { cloudCalls: undefined, cloudMutations: undefined, cloudRequestIDs: error.cloudRequestIds };
  }
  const stats = recordField(response, "stats");
  const isCounted = isRecord(response["stats"]);
  return {
    cloudCalls: isCounted ? numberField(stats, "cloudCalls") : undefined,
    cloudMutations: isCounted ? numberField(stats, "cloudMutations") : undefined,
    cloudRequestIDs: stringsField(stats, "cloudRequestIds"),
  };
}

/** Digest of the request without caller and change number: equal for the same desired state. */
function digest(request: JsonRecord): string {
  const { context: _, change: __, ...desired } = request;
  return `sha256:${createHash("sha256").update(canonicalJson(desired)).digest("hex")}`;
}

function nonEmpty(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** Forwards each line, and records an event on its object: the Service, or the Nodes of routes. Not for dry runs. */
export function auditEventSink(lines: ChangeAudit | undefined, record: (event: EventInput) => void): ChangeAudit {
  return {
    write: (line) => {
      lines?.write(line);
      for (const event of eventsOf(line)) record(event);
    },
    drop: (error) => lines?.drop(error),
  };
}

function eventsOf(line: AuditLine): readonly EventInput[] {
  const { validateOnly, service, routes = [] } = line;
  if (validateOnly) return [];
  const ofRoutes = routes.filter(({ node }) => node !== "").map((route) => routeCalled(line, route));
  return [...(service === undefined ? [] : [loadBalancerCalled(line, service)]), ...ofRoutes];
}

export type AuditOpening =
  | { readonly kind: "open"; readonly audit: AuditLog }
  | { readonly kind: "off"; readonly audit: undefined }
  | { readonly kind: "failed"; readonly problem: string };

export interface AuditDependencies {
  readonly options: AuditOptions;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Destinations of change records: the audit log, events, both or none. */
export function changeAudit(
  log: AuditSink | undefined,
  events: { record(event: EventInput): void } | undefined,
): ChangeAudit | undefined {
  return events === undefined ? log : auditEventSink(log, (event) => events.record(event));
}

const MEGABYTE = 1024 * 1024;

/** The configured audit log. A failure must be reported before anything is changed. */
export function openAuditLog({ options, metrics, clock, log }: AuditDependencies): AuditOpening {
  const { auditLogPath: path, auditLogMaxsize, auditLogMaxbackup: backups } = options;
  if (path === "") return { kind: "off", audit: undefined };
  try {
    const limits = { maxBytes: auditLogMaxsize * MEGABYTE, backups };
    return { kind: "open", audit: new AuditLog({ path, ...limits, metrics: auditMetrics(metrics), clock, log }) };
  } catch (error) {
    return { kind: "failed", problem: `--audit-log-path: ${path}: cannot be opened for writing: ${messageOf(error)}` };
  }
}
