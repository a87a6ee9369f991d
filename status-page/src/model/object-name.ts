import { OBJECT_KINDS, type ObjectKind, type ObjectRef } from "@cloudwire/operator-api";

export interface ObjectName {
  readonly kind: ObjectKind;
  /** `worker-1`, `shop/web`. */
  readonly name: string;
}

/** undefined: of no kind that this page knows. */
export function parseRef(text: string): ObjectName | undefined {
  const at = text.indexOf("/");
  const kind = OBJECT_KINDS.find((known) => known === text.slice(0, at));
  const name = text.slice(at + 1);
  return kind === undefined || name === "" ? undefined : { kind, name };
}

export function formatRef({ kind, name }: ObjectName): ObjectRef {
  return `${kind}/${name}`;
}

/** How people say it: one, and several. */
export const KIND_WORDS: Readonly<Record<ObjectKind, { readonly one: string; readonly many: string }>> = {
  node: { one: "Node", many: "Nodes" },
  service: { one: "Service", many: "Services" },
  route: { one: "Route", many: "Routes" },
  provider: { one: "Provider", many: "Providers" },
};
