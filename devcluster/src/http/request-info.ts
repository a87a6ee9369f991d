/** What a path asks for. */
export type RequestInfo =
  | {
      readonly kind: "resource";
      readonly group: string;
      readonly version: string;
      readonly namespace: string;
      readonly resource: string;
      readonly name: string;
      readonly subresource: string;
      /** The old `/api/v1/watch/...` form. */
      readonly watch: boolean;
    }
  | { readonly kind: "other"; readonly path: string };

/** Takes a path apart as the real server does (upstream apiserver/pkg/endpoints/request/requestinfo.go). */
export function parseRequestPath(path: string): RequestInfo {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  const root = parts[0];
  const prefix = root === "api" ? 2 : root === "apis" ? 3 : parts.length;
  if (parts.length <= prefix || (root !== "api" && root !== "apis")) return { kind: "other", path };
  const group = root === "api" ? "" : (parts[1] ?? "");
  const version = parts[prefix - 1] ?? "";
  const watch = parts[prefix] === "watch";
  const rest = parts.slice(watch ? prefix + 1 : prefix);
  return { kind: "resource", group, version, watch, ...place(rest) };
}

interface Place {
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
}

/** Parts of a namespace itself rather than of something in it. */
const namespaceSubresources = ["status", "finalize"];

function place(parts: readonly string[]): Place {
  const [first = "", second = "", third = "", fourth = "", ...deeper] = parts;
  if (first === "namespaces" && third !== "" && !namespaceSubresources.includes(third)) {
    return { namespace: second, resource: third, name: fourth, subresource: deeper.join("/") };
  }
  return {
    namespace: "",
    resource: first,
    name: second,
    subresource: [third, fourth, ...deeper].filter(Boolean).join("/"),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
