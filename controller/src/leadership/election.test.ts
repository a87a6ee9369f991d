import { expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeKube } from "../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { CLOUD_NODE_LIFECYCLE_CONTROLLER } from "../api/controller-names.ts";
import { DeletionHistory, LeaseDeletions } from "../controllers/node-lifecycle/deletion-history.ts";
import { isObserved, modesOf } from "../observe/mode.ts";
import { ChangeSequence } from "./change-sequence.ts";
import { LEASES } from "./lease-lock.ts";
import { DEFAULT_MIGRATION, type LeaderMigration } from "./migration.ts";
import type { Options } from "../app/options.ts";
import { parseCommand } from "../app/options.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { aborted } from "../util/abort.ts";
import { type JsonRecord, recordField } from "../util/json.ts";
import { CONTROLLER_NAMES } from "../app/controllers.ts";
import { Election } from "./election.ts";

const MAIN = "cloud-controller-manager";
const SECOND = DEFAULT_MIGRATION.leaseName;
const NOTE = "deletions.cloudwire.dev/acme";
const ROUTES_ONLY: LeaderMigration = { leaseName: SECOND, leaders: new Map([["route-controller", "*"]]) };
const ELSEWHERE: LeaderMigration = {
  leaseName: SECOND,
  leaders: new Map([[CLOUD_NODE_LIFECYCLE_CONTROLLER, "kube-controller-manager"]]),
};
const OBSERVED = `--controller-mode=${CLOUD_NODE_LIFECYCLE_CONTROLLER}=observe`;

function optionsOf(...flags: readonly string[]): Options {
  const args = ["--kubeconfig=/none", "--provider=acme=unix:///none.sock", ...flags];
  const command = parseCommand({ args, environment: {}, readText: () => "" }, CONTROLLER_NAMES);
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

async function lead(migration: LeaderMigration | undefined, flags: readonly string[], kube = new FakeKube()) {
  const [clock, log] = [new FakeClock(), new FakeLog()];
  const deletions = new DeletionHistory({ clock, log });
  const options = optionsOf(...flags);
  const isActive = (provider: string): boolean =>
    !isObserved(modesOf(options), CLOUD_NODE_LIFECYCLE_CONTROLLER, provider);
  const election = new Election({
    options,
    migration,
    controllers: { run: (_, { stop }) => aborted(stop) },
    kube: { electionClient: kube, events: { recorder: () => ({ record: () => undefined }) }, informers: [] },
    provider: { sidecars: [] },
    identity: "a",
    sequence: new ChangeSequence({ clock, log, isElected: true }),
    annotations: new Map([[CLOUD_NODE_LIFECYCLE_CONTROLLER, [new LeaseDeletions(deletions, "a", isActive)]]]),
    metrics: new Metrics(),
    clock,
    random: () => 0,
    log,
    graceMs: 1000,
  });
  const stop = new AbortController();
  const end = election.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    expect(await end).toBe("stopped");
  });
  await clock.advance(500);
  expect(election.main.leading).toBe(true);
  return { kube, clock, deletions, stop };
}

function annotationsOf(kube: FakeKube, name: string): JsonRecord {
  const lease = kube.stored(LEASES, { namespace: "kube-system", name });
  return recordField(recordField(lease ?? {}, "metadata"), "annotations");
}

test.each<{ it: string; migration: LeaderMigration | undefined; flags: readonly string[]; want: readonly string[] }>([
  { it: "on the one Lease", migration: undefined, flags: [], want: [MAIN] },
  { it: "on the second Lease that they are led under", migration: DEFAULT_MIGRATION, flags: [], want: [SECOND] },
  { it: "on the main Lease when only others migrate", migration: ROUTES_ONLY, flags: [], want: [MAIN] },
  { it: "nowhere when they are only planned", migration: DEFAULT_MIGRATION, flags: [OBSERVED], want: [] },
])("Election has deletions noted $it, ahead of the next renewal", async ({ migration, flags, want }) => {
  const { kube, clock, deletions, stop } = await lead(migration, flags);

  const announced = deletions.announce("acme", stop.signal);
  await clock.advance(200);
  using _own = await announced;
  const noted = [MAIN, SECOND].filter((name) => NOTE in annotationsOf(kube, name));
  expect(noted).toEqual(want);
});

test("Election lets an account of deletions grow old and go while another program runs the controller", async () => {
  const kube = new FakeKube();
  const account = JSON.stringify({ time: "2026-11-28T00:00:00.000Z", secondsAgo: { 0: 2 } });
  const metadata = { namespace: "kube-system", name: MAIN, annotations: { [NOTE]: account } };
  kube.seed(LEASES, { metadata, spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
  const { clock } = await lead(ELSEWHERE, [], kube);
  expect(annotationsOf(kube, MAIN)).toHaveProperty([NOTE]);
  await clock.advance(610_000);
  expect(annotationsOf(kube, MAIN)).not.toHaveProperty([NOTE]);
});
