import { type Json, isJsonObject, sameJson } from "../json.ts";

export interface OrderRequest {
  /** Every element of the result, in any order. */
  readonly merged: readonly Json[];
  /** Elements that the patch names, in its order; for objects only the merge key counts. */
  readonly patchOrder: readonly Json[];
  /** The list before the patch. */
  readonly serverOrder: readonly Json[];
  readonly mergeKey?: string;
}

/**
 * Orders a patched list: elements named by the patch follow the patch, the others keep their order, and an element of one side goes before
 * one of the other only if the old list says so (upstream strategicpatch normalizeElementOrder).
 */
export function mergeOrder(request: OrderRequest): readonly Json[] {
  const position = (order: readonly Json[], element: Json): number =>
    order.findIndex((candidate) => sameJson(identity(candidate, request), identity(element, request)));
  const named = request.merged.filter((element) => position(request.patchOrder, element) >= 0);
  const others = request.merged.filter((element) => position(request.patchOrder, element) < 0);
  const fromPatch = sortBy(named, (element) => position(request.patchOrder, element));
  const fromServer = sortBy(others, (element) => position(request.serverOrder, element));
  const result: Json[] = [];
  let next = 0;
  for (const element of fromPatch) {
    const place = position(request.serverOrder, element);
    const earlier = fromServer.slice(next).findIndex((candidate) => {
      const candidatePlace = position(request.serverOrder, candidate);
      return candidatePlace < 0 || candidatePlace > place;
    });
    const end = earlier < 0 ? fromServer.length : next + earlier;
    if (place >= 0) {
      result.push(...fromServer.slice(next, end));
      next = end;
    }
    result.push(element);
  }
  return [...result, ...fromServer.slice(next)];
}

function identity(element: Json, { mergeKey }: OrderRequest): Json {
  return mergeKey !== undefined && isJsonObject(element) ? (element[mergeKey] ?? null) : element;
}

function sortBy(list: readonly Json[], place: (element: Json) => number): readonly Json[] {
  return list
    .map((element) => ({ element, place: place(element) }))
    .sort((left, right) => left.place - right.place)
    .map(({ element }) => element);
}
