/** Where a service really is, and the first part of the path by which a proxy names it. */
export interface Route {
  /** Type of the service in the catalogue: `compute`. */
  readonly type: string;
  /** Without a path: `http://127.0.0.1:8774`. */
  readonly origin: string;
}

/** A token's answer that leads through a proxy, and where the proxy has to send what comes. */
export interface Redirected {
  readonly answer: unknown;
  readonly routes: readonly Route[];
}

/** Makes all endpoints of a token's catalogue be below a proxy: `http://127.0.0.1:8774/v2.1` becomes `{proxy}/compute/v2.1`. */
export function redirected(answer: unknown, proxy: string): Redirected {
  const routes = new Map<string, Route>();
  const token = objectAt(answer, "token");
  const catalog = listOf(Reflect.get(token, "catalog")).map((service) => {
    const type = String(Reflect.get(service, "type"));
    const endpoints = listOf(Reflect.get(service, "endpoints")).map((endpoint) => {
      const { origin, pathname } = new URL(String(Reflect.get(endpoint, "url")));
      // The endpoints of one service may differ by interface and region; a recording is of one of them.
      if (!routes.has(type)) routes.set(type, { type, origin });
      return { ...endpoint, url: `${proxy}/${type}${pathname.replace(/\/+$/, "")}` };
    });
    return { ...service, endpoints };
  });
  return { answer: { ...objectOf(answer), token: { ...token, catalog } }, routes: [...routes.values()] };
}

function objectAt(value: unknown, key: string): object {
  return objectOf(Reflect.get(objectOf(value), key));
}

function objectOf(value: unknown): object {
  if (typeof value === "object" && value !== null) return value;
  throw new Error(`Keystone's answer has ${String(value)} where an object is needed`);
}

function listOf(value: unknown): readonly object[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
