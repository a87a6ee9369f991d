import { methodRules } from "@cloudwire/proto/methods";
import { codeNames } from "@cloudwire/proto/codes";

/** A JSON Schema, draft 7: what editors know best. */
interface Schema {
  readonly [keyword: string]: unknown;
}

/** One field of a line. */
export interface AuditField {
  /** For the page. */
  readonly type: string;
  readonly schema: Schema;
  /** When it is there; "": always. */
  readonly when: string;
  readonly what: string;
}

const text: Schema = { type: "string", minLength: 1 };
const count: Schema = { type: "integer", minimum: 0 };
const CHANGES = Object.entries(methodRules)
  .filter(([, rules]) => rules.change)
  .map(([method]) => method);

/** Every field of a line, in its order there. */
export const AUDIT_FIELDS: Readonly<Record<string, AuditField>> = {
  line: {
    type: "number",
    schema: { type: "integer", minimum: 1 },
    when: "",
    what: "counts the changes of a process: 1 is its first, and a gap says that lines are lost",
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
    when: "likewise",
    what: "what is reconciled: `namespace/name` of a Service, a Node's name, a fixed word for work on the whole cluster; of a call about several routes the first one's",
  },
  reconcileID: {
    type: "text",
    schema: text,
    when: "likewise",
    what: "the reconcile, by the same id in the controller's log and in a trace",
  },
  resourceVersion: {
    type: "text",
    schema: text,
    when: "the key names an object that is there",
    what: "the state of that object from which the change was made, `metadata.resourceVersion`; of a call about several routes that of the first one's Node",
  },
  generation: {
    type: "number",
    schema: { type: "integer", minimum: 1 },
    when: "the object has one; Services and Nodes of Kubernetes 1.36 have none",
    what: "`metadata.generation` of the same",
  },
  trigger: {
    type: "text",
    schema: text,
    when: "the request has one",
    what: "why the change is made, for people, as the provider is told",
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
    what: "one call, by the same id in the controller's log, in the provider's, and in a trace; a change that is repeated because nobody knows what became of it keeps its id",
  },
  validateOnly: {
    type: "true, false",
    schema: { type: "boolean" },
    when: "",
    what: "true: a question what would be done (`validate_only`), as in observe mode; nothing was changed",
  },
  sequence: {
    type: "decimal number as text",
    schema: { type: "string", pattern: "^[1-9]\\d*$" },
    when: "the request has one; a question has none, nor has `ApplyNodeSet`",
    what: "place among all changes of this cluster ([fencing](../explanation/fencing.md))",
  },
  epoch: {
    type: "number",
    schema: { type: "integer", minimum: 1 },
    when: "with `sequence`",
    what: "the leader that made the change, part of `sequence`",
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
    what: "the Service; its UID tells it from one of the same name before or after it",
  },
  loadBalancerID: {
    type: "text",
    schema: text,
    when: "it is known",
    what: "the provider's id of the load balancer: as asked for, or else as answered",
  },
  specFingerprint: {
    type: "text",
    schema: text,
    when: "`EnsureLoadBalancer`",
    what: "the state of the Service that was wished; Services have no `metadata.generation`, so this says which state it was",
  },
  nodesFingerprint: {
    type: "text",
    schema: text,
    when: "the call is about nodes of a load balancer",
    what: "the set of nodes that was wished",
  },
  nodeSetID: {
    type: "text",
    schema: text,
    when: "`ApplyNodeSet`",
    what: "the set of nodes that the provider is to remember; its cloud is not asked",
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
    what: "each route with what became of it; without `code` where the call failed as a whole",
  },
  requestDigest: {
    type: "text",
    schema: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
    when: "",
    what: "digest of what was asked for: the same wish has the same ([how](#the-digest))",
  },
  code: {
    type: "text",
    schema: { enum: [...codeNames] },
    when: "",
    what: "how the call ended: `OK`, or a gRPC code; of `CANCELLED`, `DEADLINE_EXCEEDED` and `UNKNOWN` nobody knows whether something was changed",
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
    when: "`DeleteLoadBalancer` was answered",
    what: "false: the cloud is still deleting",
  },
  cloudCalls: {
    type: "number",
    schema: count,
    when: "the answer counts them",
    what: "requests to the cloud that the call took",
  },
  cloudMutations: {
    type: "number",
    schema: count,
    when: "likewise",
    what: "those of them that change something; 0: all was as wished",
  },
  cloudRequestIDs: {
    type: "list of texts",
    schema: { type: "array", items: text },
    when: "",
    what: "the cloud's own ids of the last of these requests, for its log; empty: the provider names none",
  },
  durationMs: {
    type: "number",
    schema: { type: "number", minimum: 0 },
    when: "",
    what: "from sending the request to the answer",
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
