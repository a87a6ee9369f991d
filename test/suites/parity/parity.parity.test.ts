import { buildControlPlane } from "@cloudwire/control-plane";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skipReason } from "../differential/differential.ts";
import { differencesOf, classify } from "./report/compare.ts";
import { explanations } from "./report/explanations.ts";
import { documentedIds } from "./report/page.ts";
import { faultsOf, type Row, table } from "./report/table.ts";
import type { Session } from "./scenario.ts";
import { sessionOf, sessions } from "./sessions.ts";
import { ParitySuite, type Result, scenariosOf } from "./suite.ts";
import { buildUpstream } from "./upstream/module.ts";

const BUILD_MS = 60 * 60_000;

const reason = await skipReason("upstream's controllers and ours");
const documented = await documentedIds();
const rows = new Map<string, Row>();
let suite: ParitySuite | undefined;

describe.skipIf(reason !== undefined)("upstream's controllers and ours", () => {
  beforeAll(async () => {
    await buildControlPlane();
    await buildUpstream();
    suite = await ParitySuite.start();
  }, BUILD_MS);
  afterAll(async () => {
    if (suite === undefined) return;
    console.log(`\n${table([...rows.values()])}\n`);
    await keepOutputs(suite);
    await suite[Symbol.asyncDispose]();
  });

  describe.each(sessions)("$name", (session) => {
    beforeAll(async () => {
      if (suite === undefined) throw new Error("the worlds did not start");
      for (const row of await rowsOf(suite, session)) rows.set(row.result.scenario.name, row);
    });

    test.each(scenariosOf(session))("$name", ({ name }) => {
      const row = rows.get(name);
      // One text: a report of this test alone then says what was wrong.
      expect(row && faultsOf(row, documented).join("\n")).toBe("");
    });
  });
});

/** What shows a fault is tried once more in a fresh world, as all tests over real processes are; which that was is said. */
async function rowsOf(first: ParitySuite, session: Session): Promise<readonly Row[]> {
  const rows = (await first.run(session)).map(toRow);
  const faults = rows.flatMap((row) => {
    const why = faultsOf(row, documented);
    return why.length === 0 ? [] : [{ name: row.result.scenario.name, why: why.join("; ") }];
  });
  if (faults.length === 0) return rows;
  console.log(`\nTried again in a fresh world:\n${faults.map(({ name, why }) => `${name}: ${why}`).join("\n")}\n`);
  const faulty = new Set(faults.map(({ name }) => name));
  await using second = await ParitySuite.start(1);
  const again = (await second.run(sessionOf(session, faulty))).map(toRow);
  return rows.map((row) => again.find(({ result }) => result.scenario === row.result.scenario) ?? row);
}

function toRow(result: Result): Row {
  const { scenario, upstream, ours } = result;
  const classification = classify(differencesOf(upstream.facts, ours.facts), scenario.claims, explanations);
  return { result, classification };
}

function hasFaults(row: Row): boolean {
  return faultsOf(row, documented).length > 0;
}

/** Only where someone has to look into a difference. */
async function keepOutputs(ended: ParitySuite): Promise<void> {
  if (![...rows.values()].some(hasFaults)) return;
  for (const [peer, output] of Object.entries(ended.outputs())) {
    const file = join(tmpdir(), `cloudwire-parity-${peer}.log`);
    await writeFile(file, output);
    console.log(`What the programs of ${peer} wrote: ${file}`);
  }
}
