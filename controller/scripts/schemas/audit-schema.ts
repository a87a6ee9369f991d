import { methodRules } from "@cloudwire/proto/methods";
import { codeNames } from "@cloudwire/proto/codes";

/** JSON Schema, draft 7, which editors support best. */
interface Schema {
  readonly [keyword: string]: unknown;
}

/** One field of a line. */
export interface AuditField {
  /** For the page. */
  readonly type: string;
  readonly schema: Schema;
  /** Condition for its presence; "": always. */
  readonly when: string;
  readonly what: string;
}

const text: Schema = { type: "string", minLength: 1 };
const count: Schema = { type: "integer", minimum: 0 };
const CHANGES = Object.entries(methodRules)
  .filter(([, rules]) => rules.change)
  .map(([method]) => method);

/** In the order of a line. */
export const AUDIT_FIELDS: Readonly<Record<string, AuditField>> = {
  line: {
    type: "number",
    schema: { type: "integer", minimum: 1 },
    when: "",
    what: "number of the change within the process; 1 is the first, and a gap means that lines were dropped",
  },
  time: {
    type: "time",
    schema: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" },
    when: "",
    what: "when the call was sent, UTC",
  },
  controller: {
    type: "text",
    schema: text,
    when: "a reconcile made the call",
    what: "canonical name of the controller, as in the log",
  },
  key: {
    type: "text",
    schema: text,
    when: "a reconcile made the call",
    what: "the reconciled object: `namespace/name` of a Service, a Node's name, or a fixed word for cluster-wide reconciles; for a call about several routes that of the first one",
  },
  reconcileID: {
    type: "text",
    schema: text,
    when: "a reconcile made the call",
    what: "ID of the reconcile, the same in the controller's log and in traces",
  },
  resourceVersion: {
    type: "text",
    schema: text,
    when: "the object of the key exists",
    what: "`metadata.resourceVersion` of the object that the change is based on; for a call about several routes that of the first one's Node",
  },
  generation: {
    type: "number",
    schema: { type: "integer", minimum: 1 },
    when: "the object has one; Services and Nodes of Kubernetes 1.36 do not",
    what: "`metadata.generation` of that object",
  },
  trigger: {
    type: "text",
    schema: text,
    when: "the request has one",
    what: "human-readable reason of the change, which is also sent to the provider",
  },
  provider: { type: "text", schema: text, when: "", what: "name that `--provider` gives the provider" },
  method: {
    type: CHANGES.map((method) => `\`${method}\``).join(", "),
    schema: { enum: CHANGES },
    when: "",
    what: "RPC of the contract",
  },
  requestID: {
    type: "text",
    schema: text,
    when: "",
    what: "ID of the call, the same in the logs of the controller and the provider, and in traces; a change that is retried because its outcome is unknown keeps its ID",
  },
  validateOnly: {
    type: "true, false",
    schema: { type: "boolean" },
    when: "",
    what: "true: a dry-run request (`validate_only`), as in observe mode; nothing was changed",
  },
  sequence: {
    type: "decimal number as text",
    schema: { type: "string", pattern: "^[1-9]\\d*$" },
    when: "the request has one; dry-run requests and `ApplyNodeSet` do not",
    what: "position in the order of all changes of the cluster ([fencing](../explanation/fencing.md))",
  },
  epoch: {
    type: "number",
    schema: { type: "integer", minimum: 1 },
    when: "with `sequence`",
    what: "epoch of the leader that made the change, part of `sequence`",
  },
  service: {
    type: "object with `namespace`, `name`, `uid`",
    schema: {
      type: "object",
      properties: { namespace: text, name: text, uid: text },
      required: ["namespace", "name", "uid"],
      additionalProperties: false,
    },
    when: "the call is about a load balancer",
    what: "the Service; its UID distinguishes it from other Services of the same name",
  },
  loadBalancerID: {
    type: "text",
    schema: text,
    when: "it is known",
    what: "the provider's ID of the load balancer, from the request or else from the response",
  },
  specFingerprint: {
    type: "text",
    schema: text,
    when: "`EnsureLoadBalancer`",
    what: "fingerprint of the desired spec of the load balancer; Services have no `metadata.generation`",
  },
  nodesFingerprint: {
    type: "text",
    schema: text,
    when: "the call is about nodes of a load balancer",
    what: "fingerprint of the desired nodes",
  },
  nodeSetID: {
    type: "text",
    schema: text,
    when: "`ApplyNodeSet`",
    what: "the node set that the provider stores, without a cloud call",
  },
  routes: {
    type: "list of objects with `destinationCidr`, `node`, `targetProviderID`, `code`, `reason`",
    schema: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          destinationCidr: text,
          node: { type: "string" },
          targetProviderID: { type: "string" },
          code: { enum: [...codeNames] },
          reason: text,
        },
        required: ["destinationCidr", "node", "targetProviderID"],
        additionalProperties: false,
      },
    },
    when: "the call is about routes",
    what: "each route with its result; without `code` if the whole call failed",
  },
  requestDigest: {
    type: "text",
    schema: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
    when: "",
    what: "digest of the requested change; the same change has the same digest ([details](#digest))",
  },
  code: {
    type: "text",
    schema: { enum: [...codeNames] },
    when: "",
    what: "`OK`, or a gRPC code; after `CANCELLED`, `DEADLINE_EXCEEDED` and `UNKNOWN` it is unknown whether anything was changed",
  },
  reason: {
    type: "text",
    schema: text,
    when: "the provider gave one",
    what: "the reason of an error ([errors](errors.md)), or a vendor's own",
  },
  done: {
    type: "true, false",
    schema: { type: "boolean" },
    when: "`DeleteLoadBalancer` succeeded",
    what: "false: the cloud is still deleting",
  },
  cloudCalls: {
    type: "number",
    schema: count,
    when: "the response has it",
    what: "requests to the cloud by the call",
  },
  cloudMutations: {
    type: "number",
    schema: count,
    when: "the response has it",
    what: "those that change something; 0: everything was up to date",
  },
  cloudRequestIDs: {
    type: "list of texts",
    schema: { type: "array", items: text },
    when: "",
    what: "the cloud's own IDs of the last of these requests, for its log; empty: the provider reports none",
  },
  durationMs: {
    type: "number",
    schema: { type: "number", minimum: 0 },
    when: "",
    what: "from the request to the response",
  },
};

/** The schema of one line. */
export function auditSchema(): Schema {
  const fields = Object.entries(AUDIT_FIELDS);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $comment: "Generated by npm run gen from controller/scripts/schemas/audit-schema.ts. Do not edit.",
    title: "A line of the audit log of cloudwire-controller-manager",
    type: "object",
    properties: Object.fromEntries(
      fields.map(([name, { schema, what, when }]) => [
        name,
        { description: when === "" ? what : `${what} (where ${when})`, ...schema },
      ]),
    ),
    required: fields.filter(([, { when }]) => when === "").map(([name]) => name),
    additionalProperties: false,
  };
}
