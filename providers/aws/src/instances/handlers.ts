import type { Filter } from "@aws-sdk/client-ec2";
import {
  type CallContext,
  type Instance,
  type InstanceBatchResult,
  type InstanceHandlers,
  type IpFamily,
  type NodeRef,
  type ReadContext,
  watchFromList,
} from "@cloudwire/provider-sdk";
import type { AwsCalls, CallScope } from "../cloud/aws.ts";
import { answerOf, foundOf, type NamePlace, type Question, questionOf } from "./answers.ts";
import { MachineReader, type Walk } from "./machine-reader.ts";
import { RecentlySeen } from "./recently-seen.ts";
import { isTerminated, type KnownMachine, toInstance } from "./to-instance.ts";
import { ZoneIds } from "./zone-ids.ts";

export interface InstanceSettings extends NamePlace {
  readonly region: string;
  readonly ipFamilies: readonly IpFamily[];
  /** Between the lists that a watch is made of. */
  readonly watchIntervalMs: number;
}

export interface InstanceDeps extends InstanceSettings {
  /** Throws if the credentials now belong to another account. */
  readonly confirmAccount: (callScope: CallScope) => Promise<void>;
}

/** How long a machine that was just made may be missing from EC2's reads; mostly it is seconds. */
const existenceConsistencyDelayMs = 120_000;

/** How old a read may be that a watch begins with. */
const watchAgeMs = 5_000;

/** Machines of EC2 as instances of the contract. */
export class Instances {
  readonly handlers: InstanceHandlers;
  readonly reader: MachineReader;
  readonly #settings: InstanceDeps;
  readonly #zoneIds: ZoneIds;
  readonly #seen: RecentlySeen;
  readonly #nowMs: () => number;

  constructor(aws: AwsCalls, settings: InstanceDeps, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
    this.#zoneIds = new ZoneIds(aws);
    this.#seen = new RecentlySeen(nowMs);
    this.reader = new MachineReader(aws, nowMs);
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
      watch: watchFromList.instances((context) => this.#walked(context), { intervalMs: watchIntervalMs }),
    };
  }

  async #getMany(nodes: readonly NodeRef[], context: ReadContext): Promise<readonly InstanceBatchResult[]> {
    const questions = nodes.map((node) => questionOf(node, this.#settings.nodeNames));
    const walked = await this.#walkFor(questions, context);
    const observeTime = new Date(this.#nowMs());
    const known = foundOf(walked?.machines ?? [], this.#settings);
    // An instance that a shared read lacks may be newer than the read, so look it up.
    const open = questions.filter((question) => {
      if (question.kind === "id") return !known.byId.has(question.instanceId);
      return question.kind === "name" && !known.byName.has(question.name);
    });
    const opened = new Set(open);
    const machines = [...(walked?.machines ?? []), ...(await this.#lookUp(open, context))];
    this.#see(machines);
    const ids = open.flatMap((question) => (question.kind === "id" ? [question.instanceId] : []));
    const found = foundOf(machines, this.#settings, new Set(ids.filter((id) => this.#seen.has(id))));
    const show = await this.#shower(machines, context);
    const answers = questions.map((question) => answerOf(question, found, show, observeTime));
    // With another account's credentials every machine is missing, and every request is a success.
    if (answers.some(isMiss)) await this.#settings.confirmAccount(context);
    return answers.map((answer, index) => {
      if (answer instanceof Error || (answer.kind !== undefined && answer.kind !== "instance")) return answer;
      const question = questions[index];
      const isOpen = question === undefined || opened.has(question);
      return {
        ...answer,
        ...asAsked(nodes[index]),
        readTime: isOpen ? observeTime : (walked?.readTime ?? observeTime),
      };
    });
  }

  /** Undefined: there is nothing to gain by reading the whole region. */
  async #walkFor(questions: readonly Question[], context: ReadContext): Promise<Walk | undefined> {
    const lookUps = questions.filter(({ kind }) => kind !== "answered").length;
    return this.reader.walkInstead(lookUps, context.maxDataAgeMs, context);
  }

  async #lookUp(questions: readonly Question[], context: CallContext): Promise<readonly KnownMachine[]> {
    const { nodeNames, vpcId } = this.#settings;
    const ids = questions.flatMap((question) => (question.kind === "id" ? [question.instanceId] : []));
    const names = questions.flatMap((question) => (question.kind === "name" ? [question.name] : []));
    const inVpc: Filter = { Name: "vpc-id", Values: [vpcId] };
    const nameFilter = nodeNames.kind === "tag" ? `tag:${nodeNames.key}` : "private-dns-name";
    const [byId, byName] = await Promise.all([
      this.reader.matching("instance-id", ids, [], context),
      this.reader.matching(nameFilter, names, [inVpc], context),
    ]);
    return [...byId, ...byName];
  }

  async *#list(context: CallContext): AsyncGenerator<Instance> {
    for await (const machines of this.reader.pages(context)) yield* await this.#shown(machines, context);
  }

  async *#walked(context: CallContext): AsyncGenerator<Instance> {
    const { machines } = await this.reader.walk(watchAgeMs, context);
    yield* await this.#shown(machines, context);
  }

  async #shown(machines: readonly KnownMachine[], context: CallContext): Promise<readonly Instance[]> {
    this.#see(machines);
    const show = await this.#shower(machines, context);
    return machines.filter((machine) => !isTerminated(machine)).map(show);
  }

  async #shower(machines: readonly KnownMachine[], context: CallContext): Promise<(machine: KnownMachine) => Instance> {
    const { region, nodeNames, ipFamilies } = this.#settings;
    const zoneIds = await this.#zoneIds.of(new Set(machines.map(({ zone }) => zone)), context);
    return (machine) => toInstance(machine, { region, nodeNames, ipFamilies, zoneIds });
  }

  #see(machines: readonly KnownMachine[]): void {
    this.#seen.see(machines.filter((machine) => !isTerminated(machine)).map(({ InstanceId }) => InstanceId));
  }
}

function isMiss(answer: InstanceBatchResult): boolean {
  return !(answer instanceof Error) && answer.kind === "absent" && answer.basis === "LOOKUP_MISS";
}

/** A Node keeps its provider ID and name, in any accepted form. */
function asAsked(node: NodeRef | undefined): Partial<Pick<Instance, "id" | "name">> {
  if (node === undefined) return {};
  return node.id === undefined ? { name: node.name } : { id: node.id };
}
