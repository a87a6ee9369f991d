import { OBJECT_KINDS, type ObjectKind, type ObjectRef } from "@cloudwire/operator-api";
import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  NODE_IPAM_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  SERVICE_LB_CONTROLLER,
} from "../api/controller-names.ts";
import { passKey, providerOfPassKey } from "../controllers/route/predicates.ts";

/** One controller that works on an object, and by which key. */
export interface Worker {
  readonly controller: string;
  readonly key: string;
}

/** By kind, what matters most first. */
const CONTROLLERS_OF: Readonly<Record<ObjectKind, readonly string[]>> = {
  node: [CLOUD_NODE_CONTROLLER, CLOUD_NODE_LIFECYCLE_CONTROLLER, NODE_IPAM_CONTROLLER],
  service: [SERVICE_LB_CONTROLLER],
  route: [NODE_ROUTE_CONTROLLER],
  provider: [NODE_ROUTE_CONTROLLER],
};

/** Who works on an object. */
export function workersOf(kind: ObjectKind, name: string): readonly Worker[] {
  const key = kind === "provider" ? passKey(name) : name;
  return CONTROLLERS_OF[kind].map((controller) => ({ controller, key }));
}

/** The object that a key of a controller is about; undefined: none that is explained. */
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

/** What is to be explained. */
export interface ParsedObject {
  readonly ref: ObjectRef;
  readonly kind: ObjectKind;
  /** `namespace/name` of a Service. */
  readonly name: string;
}

/** How each kind is written. */
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

/** What a Kubernetes name may be made of, and the names of providers: RFC 1123 subdomains, 253 characters. */
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The object that a question is about, or everything that is wrong with how it is written, with what to write instead. */
export function parseObject(text: string | undefined): ParsedObject | { readonly problems: readonly string[] } {
  if (text === undefined || text === "") return { problems: [`object: which one? Write ?object=${oneOf(FORMS)}`] };
  const [kindText = "", ...parts] = text.split("/");
  const kind = OBJECT_KINDS.find((known) => known === kindText);
  if (kind === undefined) {
    return { problems: [`object=${text}: there is no kind ${quoted(kindText)}; write ${oneOf(FORMS)}`] };
  }
  if (parts.length !== (kind === "service" ? 2 : 1)) {
    return { problems: [`object=${text} is no ${kind}; write ${FORMS[kind]}, such as ${EXAMPLES[kind]}`] };
  }
  const bad = parts.filter((part) => !NAME.test(part));
  if (bad.length > 0) return { problems: bad.map((part) => nameProblem(text, part, kind)) };
  const name = parts.join("/");
  return { ref: `${kind}/${name}`, kind, name };
}

function nameProblem(text: string, part: string, kind: ObjectKind): string {
  const rule = "names are of lower-case letters, digits, - and ., 253 at most";
  return `object=${text}: ${quoted(part)} is no name: ${rule}; write ${FORMS[kind]}, such as ${EXAMPLES[kind]}`;
}

function oneOf(forms: Readonly<Record<ObjectKind, string>>): string {
  const all = OBJECT_KINDS.map((kind) => forms[kind]);
  return `${all.slice(0, -1).join(", ")} or ${all.at(-1) ?? ""}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

/** More of them help nobody. */
const MOST = 3;

/** Names with more letters wrong are other names. */
const MOST_EDITS = 2;

/**
 * Who may be meant by a name that nothing has: a Service of that name in another namespace, longer names that go on behind a dot, or
 * else a misspelling. Some ten milliseconds for 15,000 names.
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

/** So many letters may be put in, left out or changed to make the one of the other. */
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
