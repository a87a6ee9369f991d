import { expect, onTestFinished, test } from "vitest";
import { lifeChecks } from "../checks/life.ts";
import { type ProcessMutant, processMutants, providerProgram } from "../reference/provider-program.ts";
import { runConformance } from "../run-conformance.ts";
import { formatEndpoint } from "../wire/endpoint.ts";
import { withProvider } from "../target/with-provider.ts";

const failing = async (before: string, ids: readonly string[]): Promise<readonly string[]> => {
  const { command, remove } = await providerProgram(before);
  onTestFinished(remove);
  const report = await withProvider(command, ({ endpoint }, { gone }) =>
    runConformance({ endpoint: formatEndpoint(endpoint), gone, providerCommand: command, level: "D", run: ids, startTimeoutMs: 30_000 }),
  );
  return report.results.flatMap(({ id, verdict }) =>
    verdict.kind === "pass" || verdict.kind === "skip" ? [] : [`${id} ${verdict.kind}`],
  );
};

test("runConformance() passes a provider whose process lives as it has to", async () => {
  expect(
    await failing(
      "",
      lifeChecks.map(({ id }) => id),
    ),
  ).toEqual([]);
});

test.each<ProcessMutant>(processMutants)("runConformance() finds that $fault ($name)", async ({ before, fails }) => {
  const required = lifeChecks.find(({ id }) => id === fails)?.requires ?? [];
  expect(await failing(before, [fails, ...required])).toEqual([`${fails} fail`]);
});
