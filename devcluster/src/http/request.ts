/** A request as it came in. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** A request as the handlers see it: its body is JSON, or was meant to be. */
export interface ApiRequest extends Omit<RawRequest, "body"> {
  readonly body: string;
}

/** A header's value, undefined when it was not sent. */
export function headerOf(request: Pick<RawRequest, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : value?.join(",");
}

/** The media type of the body without parameters. */
export function contentTypeOf(request: Pick<RawRequest, "headers">): string {
  return (headerOf(request, "content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}
