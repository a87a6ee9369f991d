import { setTimeout as sleep } from "node:timers/promises";
import { listAt, textAt } from "./json.ts";

export interface KubernetesOptions {
  readonly url: string;
  readonly signal: AbortSignal;
}

/** An object was created, changed or deleted; `undefined` stands for an object that does not exist. */
export type OnChange = (before: unknown, after: unknown) => void;

const CALL_TIMEOUT_MS = 10_000;
const REWATCH_DELAY_MS = 500;

/** The calls to the API server that a kubelet and an observer make. */
export class Kubernetes {
  readonly #options: KubernetesOptions;

  constructor(options: KubernetesOptions) {
    this.#options = options;
  }

  get(path: string): Promise<unknown> {
    return this.#call("GET", path);
  }

  create(path: string, body: unknown): Promise<unknown> {
    return this.#call("POST", path, body, "application/json");
  }

  /** A strategic merge patch, as kubelets send. */
  patch(path: string, body: unknown): Promise<unknown> {
    return this.#call("PATCH", path, body, "application/strategic-merge-patch+json");
  }

  delete(path: string): Promise<unknown> {
    return this.#call("DELETE", path);
  }

  /** Lists, then watches, while the demo runs. Calls onChange once for each change, also across a reconnect. */
  async follow(path: string, onChange: OnChange): Promise<void> {
    const known = new Map<string, unknown>();
    while (!this.#options.signal.aborted) {
      try {
        const list = await this.get(path);
        replace(known, listAt(list, "items"), onChange);
        for await (const event of this.#watch(path, textAt(list, "metadata", "resourceVersion"))) {
          if (!apply(known, event, onChange)) break;
        }
      } catch {
        // The server ended the watch or cannot be reached: list again.
      }
      await sleep(REWATCH_DELAY_MS, undefined, { signal: this.#options.signal }).catch(() => undefined);
    }
  }

  async *#watch(path: string, resourceVersion: string): AsyncGenerator {
    const response = await this.#fetch(
      "GET",
      `${path}?watch=true&resourceVersion=${resourceVersion}`,
      this.#options.signal,
    );
    let rest = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line);
    }
  }

  async #call(method: string, path: string, body?: unknown, type?: string): Promise<unknown> {
    const signal = AbortSignal.any([this.#options.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]);
    const response = await this.#fetch(method, path, signal, body, type);
    return response.json();
  }

  async #fetch(method: string, path: string, signal: AbortSignal, body?: unknown, type?: string): Promise<Response> {
    const { url } = this.#options;
    const response = await fetch(url + path, {
      method,
      signal,
      headers: type === undefined ? {} : { "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new KubernetesError(method, path, response.status, await response.text());
    return response;
  }
}

/** The API server rejected a call. */
export class KubernetesError extends Error {
  readonly status: number;

  constructor(method: string, path: string, status: number, body: string) {
    super(`${method} ${path} failed with ${status}: ${body.slice(0, 300)}`);
    this.status = status;
  }
}

function replace(known: Map<string, unknown>, items: readonly unknown[], onChange: OnChange): void {
  const gone = new Set(known.keys());
  for (const item of items) {
    gone.delete(keyOf(item));
    set(known, item, onChange);
  }
  for (const key of gone) {
    onChange(known.get(key), undefined);
    known.delete(key);
  }
}

/** Returns whether the watch can continue. */
function apply(known: Map<string, unknown>, event: unknown, onChange: OnChange): boolean {
  const object = Reflect.get(Object(event), "object");
  switch (textAt(event, "type")) {
    case "ADDED":
    case "MODIFIED":
      set(known, object, onChange);
      return true;
    case "DELETED":
      onChange(known.get(keyOf(object)), undefined);
      known.delete(keyOf(object));
      return true;
    case "BOOKMARK":
      return true;
    default:
      return false;
  }
}

function set(known: Map<string, unknown>, object: unknown, onChange: OnChange): void {
  const key = keyOf(object);
  const before = known.get(key);
  known.set(key, object);
  if (textAt(before, "metadata", "resourceVersion") !== textAt(object, "metadata", "resourceVersion"))
    onChange(before, object);
}

function keyOf(object: unknown): string {
  return `${textAt(object, "metadata", "namespace")}/${textAt(object, "metadata", "name")}`;
}
