import { buildControlPlane } from "@cloudwire/control-plane";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skipReason } from "../differential/differential.ts";
import { differencesOf, judge } from "./report/compare.ts";
import { explanations } from "./report/explanations.ts";
import { documentedIds } from "./report/page.ts";
import { faultsOf, type Row, table } from "./report/table.ts";
import { sessions } from "./sessions.ts";
import { ParitySuite, scenariosOf } from "./suite.ts";
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
      for (const result of (await suite?.run(session)) ?? []) {
        const { scenario, upstream, ours } = result;
        const verdict = judge(differencesOf(upstream.facts, ours.facts), scenario.claims, explanations);
        rows.set(scenario.name, { result, verdict });
      }
    });

    test.each(scenariosOf(session))("$name", (scenario) => {
      const row = rows.get(scenario.name);
      expect(row && faultsOf(scenario, row.verdict, documented)).toEqual([]);
    });
  });
});

/** Only where somebody has to look into a difference. */
async function keepOutputs(ended: ParitySuite): Promise<void> {
  const failed = [...rows.values()].some(
    ({ result, verdict }) => faultsOf(result.scenario, verdict, documented).length > 0,
  );
  if (!failed) return;
  for (const [peer, output] of Object.entries(ended.outputs())) {
    const file = join(tmpdir(), `cloudwire-parity-${peer}.log`);
    await writeFile(file, output);
    console.log(`What the programs of ${peer} wrote: ${file}`);
  }
}
