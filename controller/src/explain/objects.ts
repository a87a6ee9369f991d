import { OBJECT_KINDS, type ObjectKind, type ObjectRef } from "@cloudwire/operator-api";
import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  NODE_IPAM_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  SERVICE_LB_CONTROLLER,
} from "../api/controller-names.ts";
import { passKey, providerOfPassKey } from "../controllers/route/predicates.ts";

/** A controller and its key for an object. */
export interface Worker {
  readonly controller: string;
  readonly key: string;
}

/** Most important first. */
const CONTROLLERS_OF: Readonly<Record<ObjectKind, readonly string[]>> = {
  node: [CLOUD_NODE_CONTROLLER, CLOUD_NODE_LIFECYCLE_CONTROLLER, NODE_IPAM_CONTROLLER],
  service: [SERVICE_LB_CONTROLLER],
  route: [NODE_ROUTE_CONTROLLER],
  provider: [NODE_ROUTE_CONTROLLER],
};

export function workersOf(kind: ObjectKind, name: string): readonly Worker[] {
  const key = kind === "provider" ? passKey(name) : name;
  return CONTROLLERS_OF[kind].map((controller) => ({ controller, key }));
}

/** undefined: the key is of no explained object. */
export function objectOf({ controller, key }: Worker): ObjectRef | undefined {
  switch (controller) {
    case CLOUD_NODE_CONTROLLER:
    case CLOUD_NODE_LIFECYCLE_CONTROLLER:
    case NODE_IPAM_CONTROLLER:
      return `node/${key}`;
    case SERVICE_LB_CONTROLLER:
      return `service/${key}`;
    case NODE_ROUTE_CONTROLLER: {
      const provider = providerOfPassKey(key);
      return provider === undefined ? `route/${key}` : `provider/${provider}`;
    }
    default:
      return undefined;
  }
}

export interface ParsedObject {
  readonly ref: ObjectRef;
  readonly kind: ObjectKind;
  /** `namespace/name` of a Service. */
  readonly name: string;
}

const FORMS: Readonly<Record<ObjectKind, string>> = {
  node: "node/NAME",
  service: "service/NAMESPACE/NAME",
  route: "route/NODE",
  provider: "provider/NAME",
};

const EXAMPLES: Readonly<Record<ObjectKind, string>> = {
  node: "node/worker-1",
  service: "service/shop/web",
  route: "route/worker-1",
  provider: "provider/aws",
};

/** RFC 1123 subdomain, as names of Kubernetes objects and of providers. */
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Problems include a correct example. */
export function parseObject(text: string | undefined): ParsedObject | { readonly problems: readonly string[] } {
  if (text === undefined || text === "") return { problems: [`missing object; use ?object=${oneOf(FORMS)}`] };
  const [kindText = "", ...parts] = text.split("/");
  const kind = OBJECT_KINDS.find((known) => known === kindText);
  if (kind === undefined) {
    return { problems: [`object=${text}: unknown kind ${quoted(kindText)}; use ${oneOf(FORMS)}`] };
  }
  if (parts.length !== (kind === "service" ? 2 : 1)) {
    return { problems: [`object=${text} is not a ${kind}; use ${FORMS[kind]}, such as ${EXAMPLES[kind]}`] };
  }
  const bad = parts.filter((part) => !NAME.test(part));
  if (bad.length > 0) return { problems: bad.map((part) => nameProblem(text, part, kind)) };
  const name = parts.join("/");
  return { ref: `${kind}/${name}`, kind, name };
}

function nameProblem(text: string, part: string, kind: ObjectKind): string {
  const rule = "names have at most 253 lower-case letters, digits, - and .";
  return `object=${text}: ${quoted(part)} is not a name: ${rule}; use ${FORMS[kind]}, such as ${EXAMPLES[kind]}`;
}

function oneOf(forms: Readonly<Record<ObjectKind, string>>): string {
  const all = OBJECT_KINDS.map((kind) => forms[kind]);
  return `${all.slice(0, -1).join(", ")} or ${all.at(-1) ?? ""}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

/** Most suggestions. */
const MOST = 3;

/** Most edits of a misspelled name. */
const MOST_EDITS = 2;

/**
 * Suggestions for an unknown name: Services in other namespaces, longer names that continue after a dot, or a misspelling. Takes about
 * ten milliseconds for 15,000 names.
 */
export function likelyNames(name: string, known: Iterable<string>): readonly string[] {
  const all = [...known];
  const own = name.slice(name.indexOf("/"));
  const same = all.filter((one) => (own.startsWith("/") && one.endsWith(own)) || one.startsWith(`${name}.`));
  if (same.length > 0) return same.slice(0, MOST);
  const most = Math.min(MOST_EDITS, Math.floor(name.length / 2));
  for (let edits = 1; edits <= most; edits++) {
    const near = all.find((one) => isWithin(edits, one, name));
    if (near !== undefined) return [near];
  }
  return [];
}

/** Whether `edits` insertions, deletions or replacements suffice. */
function isWithin(edits: number, left: string, right: string, from = { left: 0, right: 0 }): boolean {
  let { left: i, right: j } = from;
  while (i < left.length && j < right.length && left[i] === right[j]) {
    i++;
    j++;
  }
  const rest = Math.max(left.length - i, right.length - j);
  if (rest <= edits) return true;
  if (edits === 0) return false;
  return (
    isWithin(edits - 1, left, right, { left: i + 1, right: j + 1 }) ||
    isWithin(edits - 1, left, right, { left: i + 1, right: j }) ||
    isWithin(edits - 1, left, right, { left: i, right: j + 1 })
  );
}
