import { DescribeInstancesCommand, type Filter } from "@aws-sdk/client-ec2";
import { chunksOf, ProviderError, SharedRead, type TimedRead } from "@cloudwire/provider-sdk";
import type { AwsCalls, CallScope } from "../cloud/aws.ts";
import { maxFilterValues, readAll, readPages } from "../cloud/pages.ts";
import { type KnownMachine, knownMachine } from "./to-instance.ts";

/** Most machines of one page. */
const pageSize = 1000;

/** All machines of the region at one time, terminated ones that EC2 still knows included. */
export type Walk = TimedRead<{ readonly machines: readonly KnownMachine[] }>;

/**
 * Reads machines. Questions are filters, never lists of ids: a filter that nothing matches is a success without items, while an id that EC2 does not
 * know makes the whole question an error.
 */
export class MachineReader {
  readonly #aws: AwsCalls;
  /** As of the last read. Starts at one, because a watch reads the region anyway. */
  #pagesOfRegion = 1;
  readonly #walks: SharedRead<{ readonly machines: readonly KnownMachine[] }, CallScope>;

  constructor(aws: AwsCalls, nowMs: () => number) {
    this.#aws = aws;
    this.#walks = new SharedRead(async (callScope) => {
      const machines: KnownMachine[] = [];
      for await (const page of this.pages(callScope)) machines.push(...page);
      return { machines };
    }, nowMs);
  }

  /** Machines that any of the values fits: one request for 200 of them. */
  async matching(
    name: string,
    values: readonly string[],
    more: readonly Filter[],
    callScope: CallScope,
  ): Promise<readonly KnownMachine[]> {
    const found = await Promise.all(
      chunksOf([...new Set(values)], maxFilterValues).map((chunk) =>
        readAll(this.#page([{ Name: name, Values: [...chunk] }, ...more], callScope)),
      ),
    );
    return found.flat();
  }

  /** All machines, page by page as they are asked for. */
  async *pages(callScope: CallScope): AsyncGenerator<readonly KnownMachine[]> {
    let pages = 0;
    for await (const page of readPages(this.#page([], callScope))) {
      pages += 1;
      yield page;
    }
    this.#pagesOfRegion = Math.max(pages, 1);
  }

  /** All machines of the region, if that costs less than to look so many machines up. Undefined: it does not. */
  async walkInstead(lookUps: number, maxAgeMs: number, callScope: CallScope): Promise<Walk | undefined> {
    const saved = Math.ceil(lookUps / maxFilterValues);
    return this.#walks.getIfCheaper({ savedRequests: saved, neededRequests: this.#pagesOfRegion, maxAgeMs }, callScope);
  }

  /** All machines of a read that began at most `maxAgeMs` ago. Concurrent callers share one read. */
  async walk(maxAgeMs: number, callScope: CallScope): Promise<Walk> {
    return this.#walks.get(maxAgeMs, callScope);
  }

  #page(filters: readonly Filter[], callScope: CallScope) {
    return async (token: string | undefined) => {
      const { Reservations = [], NextToken } = await this.#aws.ec2(callScope, (client, options) =>
        client.send(
          new DescribeInstancesCommand({ Filters: [...filters], MaxResults: pageSize, NextToken: token }),
          options,
        ),
      );
      const items = Reservations.flatMap(({ Instances = [] }) => Instances).map((machine) => {
        const known = knownMachine(machine);
        if (known) return known;
        throw new ProviderError(
          "INCOMPLETE_ANSWER",
          "EC2 returned an instance without an ID or zone; the read is retried",
        );
      });
      return { items, next: NextToken };
    };
  }
}
