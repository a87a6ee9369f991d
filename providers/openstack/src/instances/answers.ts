import {
  absent,
  type Instance,
  type InstanceBatchResult,
  type NodeRef,
  notOwned,
  ProviderError,
} from "@cloudwire/provider-sdk";
import { parseId } from "./provider-id.ts";
import { isDeleted, isKnown, type KnownServer, type Server } from "./server.ts";

/** The key for looking up a Node's server. */
export type Question =
  | { readonly kind: "id"; readonly serverId: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "answered"; readonly answer: InstanceBatchResult };

/** A provider ID alone decides; without it the Node's name does. */
export function questionOf({ id, name }: Pick<NodeRef, "id" | "name">, region: string): Question {
  if (id === undefined) return { kind: "name", name };
  const parsed = parseId(id, region);
  switch (parsed.kind) {
    case "server":
      return { kind: "id", serverId: parsed.serverId };
    case "foreign":
      return { kind: "answered", answer: notOwned(`a server of region ${parsed.region}, not of ${region}`) };
    case "malformed":
      return { kind: "answered", answer: new ProviderError("PROVIDER_ID_MALFORMED", parsed.problem) };
  }
  return parsed satisfies never;
}

/** What Nova was read to have. */
export interface Found {
  readonly byId: ReadonlyMap<string, Server>;
  /** Servers that are not deleted, by their names in lower case: a kubelet takes the host's name, which is. */
  readonly byName: ReadonlyMap<string, readonly KnownServer[]>;
  /** Ids for which Nova was asked one by one and had no server: the only proof, since lists can lack those of a cell. */
  readonly missing: ReadonlySet<string>;
  /** True: all servers of the project were listed. */
  readonly isComplete: boolean;
}

export function foundOf(servers: readonly Server[], rest: Partial<Pick<Found, "missing" | "isComplete">> = {}): Found {
  const byId = new Map(servers.map((server) => [server.id, server]));
  const alive = [...byId.values()].filter(isKnown).filter((server) => !isDeleted(server));
  const byName = Map.groupBy(alive, ({ name }) => name.toLowerCase());
  return { byId, byName, missing: rest.missing ?? new Set(), isComplete: rest.isComplete ?? false };
}

/** The answer about one Node; `show` makes an instance of a server. */
export function answerOf(
  question: Question,
  found: Found,
  show: (server: KnownServer) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  switch (question.kind) {
    case "answered":
      return question.answer;
    case "id":
      return answerById(question.serverId, found, show, observeTime);
    case "name":
      return answerByName(question.name, found, show, observeTime);
  }
  return question satisfies never;
}

function answerById(
  id: string,
  { byId, missing }: Found,
  show: (server: KnownServer) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  const server = byId.get(id);
  if (server === undefined) {
    if (missing.has(id)) return absent("LOOKUP_MISS", { observeTime, stronglyConsistent: true });
    return new ProviderError(
      "INCOMPLETE_ANSWER",
      `Nova's list has no server ${id}, which is not conclusive; the read is retried`,
    );
  }
  if (isDeleted(server)) return absent("TERMINATED", { observeTime, stronglyConsistent: true });
  return isKnown(server) ? show(server) : unknownCell(`server ${id}`);
}

function answerByName(
  name: string,
  { byId, byName, isComplete }: Found,
  show: (server: KnownServer) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  const [first, ...others] = byName.get(name.toLowerCase()) ?? [];
  if (first && others.length > 0) {
    const matches = [first, ...others].map(({ id }) => id).join(",");
    const message = `${others.length + 1} servers have the name ${name}: ${matches}`;
    return new ProviderError("AMBIGUOUS_NAME", message, { metadata: { matches } });
  }
  if (first) return show(first);
  // Of a cell that does not answer Nova knows no names.
  if (![...byId.values()].every(isKnown)) return unknownCell(`a server of the name ${name}`);
  if (isComplete) return absent("COMPLETE_LIST_MISS", { observeTime });
  return new ProviderError("INCOMPLETE_ANSWER", `no server has the name ${name}, but not all servers were listed`);
}

function unknownCell(what: string): ProviderError {
  return new ProviderError(
    "INCOMPLETE_ANSWER",
    `a cell of Nova does not respond and may contain ${what}; the read is retried`,
  );
}
