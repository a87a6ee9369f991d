import type { KubeClient } from "./client.ts";
import type { Resource } from "./resources/codec.ts";

/** Small enough that decoding a page does not block the event loop. */
const PAGE_SIZE = 500;

/** All objects in the API server, page by page. */
export async function* listPages<T>(
  kube: Pick<KubeClient, "list">,
  resource: Resource<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  let next = "";
  do {
    const page = await kube.list(resource, { signal, limit: PAGE_SIZE, ...(next === "" ? {} : { continue: next }) });
    yield* page.items;
    next = page.continue;
  } while (next !== "");
}
