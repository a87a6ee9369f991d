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
import { epochOf } from "../model/client.ts";
import { type ProviderError, type ProviderErrorCode, codeName } from "../model/errors.ts";
import type { CallSink } from "./observed-caller.ts";
import { loadBalancerCalled, routeCalled } from "./events.ts";

/** Takes a line for each change. Never blocks, never throws. */
export interface ChangeAudit {
  write(line: AuditLine): void;
  /** A line could not be made. */
  drop(error: unknown): void;
}

/**
 * Has each call that may have changed something be a line of the audit log.
 * @param rules which fields are secrets; the contract's unless given
 */
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

/** A call that may have changed something, as it ended. */
export interface AuditedCall {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly method: MethodName;
  readonly requestId: string;
  /** On whose account; undefined: no reconcile's. */
  readonly work: Pick<Work, "controller" | "key" | "reconcileID" | "version"> | undefined;
  /** Wall clock, when it was sent. */
  readonly startMs: number;
  readonly durationMs: number;
  /** The messages as JSON, without secrets. */
  readonly request: unknown;
  /** The answer, or what came in its place. */
  readonly outcome: { readonly response: unknown } | { readonly error: ProviderError };
}

/** One route of a call about several. */
export interface AuditedRoute {
  readonly destinationCidr: string;
  readonly node: string;
  readonly targetProviderID: string;
  /** undefined: the call as a whole failed. */
  readonly code: ProviderErrorCode | "OK" | undefined;
  readonly reason: string | undefined;
}

/** One line of the audit log; docs/reference/audit-log.md says what each field means. */
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
    trigger: said(stringField(change, "trigger")),
    provider,
    method,
    requestID: requestId,
    validateOnly: booleanField(change, "validateOnly"),
    ...place(change),
    ...subject(request, response),
    routes: routesOf(request, error === undefined ? response : undefined),
    requestDigest: digest(request),
    code: error?.code ?? "OK",
    reason: said(error?.reason ?? ""),
    done: method === RPCS.deleteLoadBalancer.name && error === undefined ? booleanField(response, "done") : undefined,
    ...cost(response, error),
    durationMs: Math.round(call.durationMs * 1000) / 1000,
  };
}

/** On whose account, and from which state of the object. */
function origin(
  work: AuditedCall["work"],
): Pick<AuditLine, "controller" | "key" | "reconcileID" | "resourceVersion" | "generation"> {
  const { resourceVersion = "", generation = 0 } = work?.version ?? {};
  return {
    controller: work?.controller,
    key: work?.key,
    reconcileID: work?.reconcileID,
    resourceVersion: said(resourceVersion),
    generation: generation === 0 ? undefined : generation,
  };
}

/** Place among all changes; a question has none. */
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
  const known = stringField(request, "loadBalancerId");
  const fingerprint = stringField(recordField(request, "nodes"), "fingerprint");
  return {
    service: isRecord(request["service"])
      ? {
          namespace: stringField(service, "namespace"),
          name: stringField(service, "name"),
          uid: stringField(service, "uid"),
        }
      : undefined,
    loadBalancerID: said(known) ?? said(stringField(recordField(response, "loadBalancer"), "id")),
    specFingerprint: said(stringField(request, "specFingerprint")),
    nodesFingerprint: said(fingerprint) ?? said(stringField(request, "targetFingerprint")),
    nodeSetID: said(stringField(request, "nodeSetId")),
  };
}

/** Each route with its own result, where the answer has one for each. */
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
  return { code: code === 0 ? "OK" : codeName(code), reason: said(stringField(error, "reason")) };
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

/** Of what was asked for, without who asked and which time: the same wish has the same digest. */
function digest(request: JsonRecord): string {
  const { context: _, change: __, ...wish } = request;
  return `sha256:${createHash("sha256").update(canonical(wish)).digest("hex")}`;
}

/** JSON with the keys of each object in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}

function said(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** Takes events for the API server. */
interface EventSink {
  record(event: EventInput): void;
}

/** Hands each line on, and has it told on the objects that it is about: a Service, or the Nodes of routes. What is only asked about is not told. */
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

/** What is told of each change: in the audit log, in events, both or not at all. */
export function changeAudit(log: AuditSink | undefined, events: EventSink | undefined): ChangeAudit | undefined {
  return events === undefined ? log : auditEventSink(log, (event) => events.record(event));
}

const MEGABYTE = 1024 * 1024;

/** The audit log that the settings ask for. Who asks for one and cannot have it should hear of it before anything is changed. */
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
