/** A request as the handlers see it, whatever carried it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** A header's value, undefined when it was not sent. */
export function headerOf(request: Pick<ApiRequest, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : value?.join(",");
}

/** The media type of the body without parameters. */
export function contentTypeOf(request: Pick<ApiRequest, "headers">): string {
  return (headerOf(request, "content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}
