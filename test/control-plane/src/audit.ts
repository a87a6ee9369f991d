import { readFile } from "node:fs/promises";
import { isObject, listAt, objectAt, parseJson } from "./json.ts";

export interface AuditOptions {
  /** Users whose requests are recorded; absent: everybody's. */
  readonly users?: readonly string[];
  /** Groups whose requests are recorded, in addition to those of the users. */
  readonly groups?: readonly string[];
  /** How much of each request is recorded. Default: RequestResponse, that is both bodies. */
  readonly level?: "Metadata" | "Request" | "RequestResponse";
}

/** One recorded request; a watch comes twice, when it starts to answer and when it ends. */
export interface AuditEvent {
  readonly auditId: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestUri: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly userAgent: string;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** HTTP status of the answer. */
  readonly code: number | undefined;
  readonly receivedAt: string;
  readonly requestObject: unknown;
  readonly responseObject: unknown;
}

/** The policy file of kube-apiserver, as JSON. */
export function auditPolicy(options: AuditOptions): string {
  const { users, groups, level = "RequestResponse" } = options;
  // A rule without users and groups matches everybody; one with both matches only who is in both lists.
  const subjects = [
    ...(users === undefined ? [] : [{ users }]),
    ...(groups === undefined ? [] : [{ userGroups: groups }]),
  ];
  const rules = (subjects.length === 0 ? [{}] : subjects).map((subject) => ({ level, ...subject }));
  return JSON.stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [...rules, { level: "None" }],
  });
}

/** What is recorded so far. The record of a request may follow its answer by some milliseconds. */
export async function readAuditLog(file: string): Promise<readonly AuditEvent[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  // The last line may be half written.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => toAuditEvent(parseJson(line, file)));
}

function toAuditEvent(event: unknown): AuditEvent {
  const user = objectAt(event, "user");
  const target = objectAt(event, "objectRef");
  const code = objectAt(event, "responseStatus")["code"];
  const body = isObject(event) ? event : {};
  return {
    auditId: text(event, "auditID"),
    stage: text(event, "stage"),
    verb: text(event, "verb"),
    requestUri: text(event, "requestURI"),
    user: text(user, "username"),
    groups: listAt(user, "groups").filter((group) => typeof group === "string"),
    userAgent: text(event, "userAgent"),
    resource: optionalText(target, "resource"),
    subresource: optionalText(target, "subresource"),
    namespace: optionalText(target, "namespace"),
    name: optionalText(target, "name"),
    code: typeof code === "number" ? code : undefined,
    receivedAt: text(event, "requestReceivedTimestamp"),
    requestObject: body["requestObject"],
    responseObject: body["responseObject"],
  };
}

function text(value: unknown, key: string): string {
  return optionalText(value, key) ?? "";
}

function optionalText(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
}
