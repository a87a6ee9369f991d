/** A request to a fake cloud. */
export interface FakeCloudRequest {
  /** HTTP method: `GET`. */
  readonly method: string;
  /** Path without query: `/machines/i-1`. */
  readonly path: string;
  /** Values of the parts of the route that begin with `:`. */
  readonly params: Readonly<Record<string, string>>;
  /** The query; of a name that comes twice, the last value. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body parsed as JSON; its text if it is not JSON; undefined without a body. */
  readonly body: unknown;
}

/** What a fake cloud answers. */
export interface FakeCloudResponse {
  /** Default: 200, or 204 without a body. */
  readonly status?: number | undefined;
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** Answers one kind of request. Throw {@link FakeCloudError} to refuse. */
export type FakeCloudHandler = (request: FakeCloudRequest) => FakeCloudResponse | Promise<FakeCloudResponse>;

/** Handlers by method and path: `GET /machines`, `PUT /lbs/:name`. The first that fits answers. */
export type FakeCloudRoutes = Readonly<Record<string, FakeCloudHandler>>;

/**
 * Answers a request by its route. One without route is 501 and not 404: a provider must not take a slip in a test for the
 * absence of a machine.
 */
export const answerByRoute = async (
  routes: FakeCloudRoutes,
  request: Omit<FakeCloudRequest, "params">,
): Promise<FakeCloudResponse> => {
  for (const [route, handler] of Object.entries(routes)) {
    const params = matchRoute(route, request);
    if (params) return answerOf(handler, { ...request, params });
  }
  return { status: 501, body: { error: `the fake cloud has no route for ${request.method} ${request.path}` } };
};

const matchRoute = (
  route: string,
  { method, path }: Pick<FakeCloudRequest, "method" | "path">,
): Readonly<Record<string, string>> | undefined => {
  const [wantedMethod, wantedPath = ""] = route.split(" ");
  const wanted = wantedPath.split("/");
  const given = path.split("/");
  if (wantedMethod !== method || wanted.length !== given.length) return undefined;
  const pairs = wanted.map((part, index) => [part, decodeURIComponent(given[index] ?? "")] as const);
  if (pairs.some(([part, value]) => (part.startsWith(":") ? value === "" : part !== value))) return undefined;
  return Object.fromEntries(
    pairs.filter(([part]) => part.startsWith(":")).map(([part, value]) => [part.slice(1), value]),
  );
};

const answerOf = async (handler: FakeCloudHandler, request: FakeCloudRequest): Promise<FakeCloudResponse> => {
  try {
    return await handler(request);
  } catch (error) {
    if (error instanceof FakeCloudError) return { status: error.status, body: error.body };
    return { status: 500, body: { error: `the fake cloud's handler failed: ${String(error)}` } };
  }
};

/** Thrown by a route or a table of a fake cloud: the request is answered with this status. */
export class FakeCloudError extends Error {
  override readonly name = "FakeCloudError";
  /** HTTP status of the answer. */
  readonly status: number;
  /** JSON of the answer. */
  readonly body: unknown;

  /** `body` may be any JSON value. */
  constructor(status: number, body: unknown = { error: `refused with ${status}` }) {
    super(`the fake cloud answers ${status}`);
    this.status = status;
    this.body = body;
  }
}
