import { OBJECT_KINDS, type ObjectKind, type ObjectRef } from "@cloudwire/operator-api";

/** What is to be explained. */
export interface AskedObject {
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
export function parseObject(text: string | undefined): AskedObject | { readonly problems: readonly string[] } {
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
