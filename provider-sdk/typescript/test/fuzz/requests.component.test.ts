import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { invokeOk } from "../support/invoke.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { budget } from "./budget.ts";
import { everythingProvider } from "./everything-provider.ts";
import { likely } from "./likely.ts";
import { MessageArbitraries } from "./message-arbitrary.ts";
import { RuleChecker } from "@cloudwire/proto/rule-checker";
import { allMethods, type AnyMethod, callRaw, outcomeFaults } from "./raw-call.ts";

const { parameters, timeoutMs } = budget(process.env);

const arbitraries = new MessageArbitraries(likely);

const serve = async () => {
  const served = await serveForTest(everythingProvider);
  const { getProviderInfo, batchGetInstances } = CloudProviderDefinition.methods;
  /** The same process serves a good call still. */
  const isWell = async () => {
    const { bootId } = await invokeOk(
      served.client,
      getProviderInfo,
      { client: { name: "fuzz", version: "1", contractMajor: 1 } },
      { deadlineMs: 5_000 },
    );
    const { results } = await invokeOk(
      served.client,
      batchGetInstances,
      {
        context: { cluster: { id: "cluster-1" }, scopeId: "acct-1" },
        nodes: [{ name: "n1", providerId: "acme://i-1" }],
      },
      { deadlineMs: 5_000 },
    );
    return { bootId, outcome: results[0]?.outcome?.$case };
  };
  const well = { bootId: served.provider.bootId, outcome: "instance" };
  return { ...served, isWell, well };
};

const rules = new RuleChecker();

/** Paths of fields against the contract's rules; class and annotations are only hints in some methods (LB-16). */
const brokenRules = ({ name, requestType }: AnyMethod, bytes: Uint8Array): readonly string[] =>
  rules
    .check(`cloudprovider.v1.${name}Request`, requestType.decode(bytes))
    .map(({ field }) => field)
    .filter((field) => field !== "class" && !field.startsWith("annotations"));

describe.each(allMethods.map((method) => ({ name: method.name, method })))("$name", ({ method }) => {
  test(
    "answers arbitrary bytes as the contract says, and serves on",
    async () => {
      const { client, isWell, well } = await serve();
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
          expect(outcomeFaults(method, await callRaw(client, method, bytes))).toEqual([]);
        }),
        parameters,
      );
      expect(await isWell()).toEqual(well);
    },
    timeoutMs,
  );

  test(
    "answers arbitrary well-formed messages as the contract says, and serves on",
    async () => {
      const { client, isWell, well, logged } = await serve();
      await fc.assert(
        fc.asyncProperty(arbitraries.requestOf(method.name), async (bytes) => {
          const outcome = await callRaw(client, method, bytes);
          const faults = outcomeFaults(method, outcome);
          const wrongly = outcome.kind === "ok" ? brokenRules(method, bytes) : [];
          expect([faults, wrongly]).toEqual([[], []]);
        }),
        parameters,
      );
      expect(await isWell()).toEqual(well);
      expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    },
    timeoutMs,
  );
});

describe("all methods at once", () => {
  const oneCall = fc.constantFrom(...allMethods).chain((method) =>
    fc.record({
      method: fc.constant(method),
      bytes: arbitraries.requestOf(method.name),
      cancelAfterMs: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined, freq: 2 }),
    }),
  );

  test(
    "answer calls that meet each other and are cancelled in the middle, and serve on",
    async () => {
      const { client, connect, isWell, well } = await serve();
      const other = connect();
      await fc.assert(
        fc.asyncProperty(fc.array(oneCall, { minLength: 2, maxLength: 30, size: "max" }), async (calls) => {
          const faults = await Promise.all(
            calls.map(async ({ method, bytes, cancelAfterMs }, index) => {
              const outcome = await callRaw(index % 2 === 0 ? client : other, method, bytes, cancelAfterMs);
              return outcomeFaults(method, outcome, cancelAfterMs !== undefined);
            }),
          );
          expect(faults.flat()).toEqual([]);
        }),
        parameters,
      );
      expect(await isWell()).toEqual(well);
    },
    timeoutMs,
  );
});
