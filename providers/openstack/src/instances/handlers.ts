import { randomUUID } from "node:crypto";
import {
  type CallContext,
  type Instance,
  type InstanceBatchResult,
  type InstanceEvent,
  type InstanceHandlers,
  type NodeRef,
  type ReadContext,
  type Unreachable,
  unreachable,
  watchFromList,
} from "@cloudwire/provider-sdk";
import type { OpenStack } from "../cloud/openstack.ts";
import { answerOf, foundOf, type Question, questionOf } from "./answers.ts";
import { isDeleted, isKnown, type KnownServer, type Server } from "./server.ts";
import { ServerReader, type Walk } from "./server-reader.ts";
import { type InstanceView, toInstance } from "./to-instance.ts";

export interface InstanceSettings extends Omit<InstanceView, "region"> {
  /** Between the lists that a watch is made of. */
  readonly watchIntervalMs: number;
}

/** Nova answers for a server from the moment in which it was asked to make it; this is for a database that is replicated. */
const existenceConsistencyDelayMs = 60_000;

/** How old a read may be that a watch begins with. */
const watchAgeMs = 5_000;

/** A list of more than one page is not complete: Nova silently omits servers of cells that do not respond. */
const laterPages = "cells of Nova that do not respond, which a list of several pages does not report";

/** Servers of Nova as instances of the contract. */
export class Instances {
  readonly handlers: InstanceHandlers;
  readonly reader: ServerReader;
  readonly #view: InstanceView;
  readonly #nowMs: () => number;

  constructor(openStack: OpenStack, settings: InstanceSettings, nowMs: () => number) {
    this.#view = { ...settings, region: openStack.region };
    this.#nowMs = nowMs;
    this.reader = new ServerReader(openStack, nowMs);
    const { watchIntervalMs } = settings;
    this.handlers = {
      features: {
        maxBatchSize: 1000,
        existenceConsistencyDelayMs,
        list: { maxPageSize: 1000 },
        watch: { expectedLatencyMs: watchIntervalMs },
      },
      getMany: async (nodes, context) => this.#getMany(nodes, context),
      list: (context) => this.#list(context),
      watch: withTokens(watchFromList.instances((context) => this.#walked(context), { intervalMs: watchIntervalMs })),
    };
  }

  async #getMany(nodes: readonly NodeRef[], context: ReadContext): Promise<readonly InstanceBatchResult[]> {
    const questions = nodes.map((node) => questionOf(node, this.#view.region));
    const observeTime = new Date(this.#nowMs());
    const walked = await this.#walkFor(questions, context);
    const ofWalk = foundOf(walked?.servers ?? []);
    // A server that a shared read lacks may be newer than the read, and a list is not conclusive, so look it up.
    const open = new Set(questions.filter((question) => !isIn(question, ofWalk)));
    const { servers, missing } = await this.reader.byIds(idsIn(open), context);
    const named = await this.#byNames(namesIn(open), context);
    const ofLookUp = foundOf([...servers, ...named.servers], { missing, isComplete: named.isComplete });
    return questions.map((question, index) => {
      const isOpen = open.has(question);
      const answer = answerOf(question, isOpen ? ofLookUp : ofWalk, (server) => this.#show(server), observeTime);
      if (answer instanceof Error || (answer.kind !== undefined && answer.kind !== "instance")) return answer;
      const readTime = isOpen ? observeTime : (walked?.readTime ?? observeTime);
      return { ...answer, ...asAsked(nodes[index]), readTime };
    });
  }

  /** Undefined: there is nothing to gain by reading the whole project. */
  async #walkFor(questions: readonly Question[], context: ReadContext): Promise<Walk | undefined> {
    const requests = questions.filter(({ kind }) => kind !== "answered").length;
    return this.reader.walkInstead(requests, context.maxDataAgeMs, context);
  }

  /** Servers of an unresponsive cell have no name, so a missing name is searched in the list of all servers. */
  async #byNames(names: readonly string[], context: CallContext): Promise<NamedServers> {
    const servers = await this.reader.byNames(names, context);
    const { byName } = foundOf(servers);
    if (names.every((name) => byName.has(name.toLowerCase()))) return { servers, isComplete: false };
    const walk = await this.reader.walk(0, context);
    return walk;
  }

  async *#list(context: CallContext): AsyncGenerator<Instance | Unreachable> {
    yield* this.#shownPages(this.reader.pages(context));
  }

  async *#walked(context: CallContext): AsyncGenerator<Instance | Unreachable> {
    const { servers, isComplete } = await this.reader.walk(watchAgeMs, context);
    if (!isComplete) yield unreachable(laterPages);
    yield* this.#shown(servers);
  }

  async *#shownPages(pages: AsyncIterable<readonly Server[]>): AsyncGenerator<Instance | Unreachable> {
    let count = 0;
    for await (const servers of pages) {
      count += 1;
      if (count === 2) yield unreachable(laterPages);
      yield* this.#shown(servers);
    }
  }

  /** Only the ID of a server in an unresponsive cell is known, so the list is not complete. */
  #shown(servers: readonly Server[]): readonly (Instance | Unreachable)[] {
    return servers
      .filter((server) => !isDeleted(server))
      .map((server) => (isKnown(server) ? this.#show(server) : unreachable(`the cell of server ${server.id}`)));
  }

  #show(server: KnownServer): Instance {
    return toInstance(server, this.#view);
  }
}

type NamedServers = Pick<Walk, "servers" | "isComplete">;

function isIn(question: Question, { byId, byName }: ReturnType<typeof foundOf>): boolean {
  switch (question.kind) {
    case "answered":
      return true;
    case "id":
      return byId.has(question.serverId);
    case "name":
      return byName.has(question.name.toLowerCase());
  }
  return question satisfies never;
}

function idsIn(questions: ReadonlySet<Question>): readonly string[] {
  return [...questions].flatMap((question) => (question.kind === "id" ? [question.serverId] : []));
}

function namesIn(questions: ReadonlySet<Question>): readonly string[] {
  return [...questions].flatMap((question) => (question.kind === "name" ? [question.name] : []));
}

/** A Node keeps its provider ID and name, in any accepted form. */
function asAsked(node: NodeRef | undefined): Partial<Pick<Instance, "id" | "name">> {
  if (node === undefined) return {};
  return node.id === undefined ? { name: node.name } : { id: node.id };
}

type Watch = NonNullable<InstanceHandlers["watch"]>;

/** Tokens that cannot be resumed: the receiver lists again, without a gap. */
function withTokens(watch: Watch): Watch {
  return async function* watched(request, context): AsyncGenerator<InstanceEvent> {
    const token = randomUUID();
    for await (const event of watch(request, context)) yield { ...event, token };
  };
}
