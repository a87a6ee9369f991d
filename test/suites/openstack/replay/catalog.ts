/** Where a service really is, and the first part of the path by which a proxy names it. */
export interface Route {
  /** Type of the service in the catalog: `compute`. */
  readonly type: string;
  /** Without a path: `http://127.0.0.1:8774`. */
  readonly origin: string;
}

/** A token's answer that leads through a proxy, and where the proxy has to send what comes. */
export interface Redirected {
  readonly answer: unknown;
  readonly routes: readonly Route[];
}

/**
 * Makes all endpoints of a token's catalog be below a proxy: `http://127.0.0.1:8774/v2.1` becomes `{proxy}/compute/v2.1`. What Keystone lists in the order
 * of its random ids is put in the order of names.
 */
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
    return { ...service, endpoints: sortedBy(endpoints, "interface") };
  });
  const roles = sortedBy(listOf(Reflect.get(token, "roles")), "name");
  const changed = { ...token, roles, catalog: sortedBy(catalog, "type") };
  return { answer: { ...objectOf(answer), token: changed }, routes: [...routes.values()] };
}

function sortedBy(items: readonly object[], key: string): readonly object[] {
  const word = (item: object): string => String(Reflect.get(item, key));
  return items.toSorted((left, right) => (word(left) < word(right) ? -1 : 1));
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
