import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Report } from "../report/report.ts";
import { runConformance } from "../run-conformance.ts";
import { referenceFixtures, serveReference } from "../reference/reference-provider.ts";
import type { Mutant } from "./mutant.ts";
import { startMutantProxy } from "./mutant-proxy.ts";
import { mutants, slowChecks } from "./mutants.ts";

/** One for each test: what a faulty one does not delete, the next would meet. */
let reference: Awaited<ReturnType<typeof serveReference>>;
beforeEach(async () => {
  reference = await serveReference();
});
afterEach(() => reference.close());

/** Runs the checks against the reference provider with one fault put in. */
const runMutant = async (mutant: Mutant): Promise<Report> => {
  const path = join(reference.folder, `${mutant.name}.sock`);
  const pass: Mutant["intercept"] = (request, next) => next(request);
  const options = { ...mutant, intercept: mutant.intercept ?? pass };
  const proxy = await startMutantProxy({ kind: "unix", path: reference.path }, path, options);
  try {
    const endpoint = `unix://${path}`;
    const which = mutant.only === undefined ? { skip: [...slowChecks, ...(mutant.skip ?? [])] } : { run: mutant.only };
    const { level = "R" } = mutant;
    return await runConformance({ endpoint, fixtures: referenceFixtures, level, cleanUpTimeoutMs: 100, ...which });
  } finally {
    await proxy.close();
  }
};

const failing = ({ results }: Report): readonly string[] =>
  results
    .filter(({ verdict }) => verdict.kind === "fail" || verdict.kind === "kit-error")
    .map(({ id }) => id)
    .toSorted();

describe("runConformance()", () => {
  test("passes the correct provider in every profile, also through the proxy that faults are put in by", async () => {
    const left: string[] = ["it was not cleaned up"];
    const direct = await runConformance({
      endpoint: reference.endpoint,
      fixtures: referenceFixtures,
      level: "X",
      onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
    });
    expect(left).toEqual([]);
    expect(direct.results.filter(({ level, verdict }) => level !== "D" && verdict.kind !== "pass")).toEqual([]);
    const proxied = await runMutant({ name: "none", fault: "none", fails: [] });
    expect(failing(proxied)).toEqual([]);
  });

  test.each(mutants)("finds that $fault ($name), and nothing else", async (mutant) => {
    expect(failing(await runMutant(mutant))).toEqual(mutant.fails.toSorted());
  });
});
