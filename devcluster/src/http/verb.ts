import type { ApiRequest } from "./request.ts";
import type { RequestInfo } from "./request-info.ts";

/** The verb of a request in the terms of authorization. */
export function verbOf(request: ApiRequest, info: Extract<RequestInfo, { kind: "resource" }>): string {
  const single = info.name !== "";
  switch (request.method) {
    case "GET":
    case "HEAD":
      if (info.watch) return "watch";
      if (single) return "get";
      return isWatch(request) ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return single ? "delete" : "deletecollection";
    default:
      return request.method.toLowerCase();
  }
}

function isWatch(request: ApiRequest): boolean {
  const value = request.query.get("watch");
  return value !== null && !["0", "false"].includes(value.toLowerCase());
}
