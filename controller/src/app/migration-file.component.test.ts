import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_MIGRATION } from "../options/leader-migration.ts";
import { readMigration } from "./migration-file.ts";
import { UsageError } from "./usage-error.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cloudwire-migration-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const OPTIONS = {
  enableLeaderMigration: true,
  leaderMigrationConfig: "",
  leaderElectResourceName: "cloud-controller-manager",
};

async function withFile(content: object) {
  const path = join(folder, "migration.yaml");
  await writeFile(path, JSON.stringify(content));
  return readMigration({ ...OPTIONS, leaderMigrationConfig: path });
}

const file = (leaderName: string) => ({
  apiVersion: "controllermanager.config.k8s.io/v1",
  kind: "LeaderMigrationConfiguration",
  leaderName,
});

describe("readMigration()", () => {
  test("answers nothing where nothing moves", async () => {
    expect(await readMigration({ ...OPTIONS, enableLeaderMigration: false })).toBeUndefined();
  });

  test("answers what left kube-controller-manager where no file says otherwise", async () => {
    expect(await readMigration(OPTIONS)).toEqual(DEFAULT_MIGRATION);
  });

  test("reads the file", async () => {
    expect(await withFile(file("second"))).toEqual({ leaseName: "second", leaders: new Map() });
  });

  test.each([
    ["one Lease for both", file("cloud-controller-manager"), /must be another than the first/],
    ["what is wrong in it", { ...file("second"), kind: "Other" }, /migration\.yaml: kind: is "Other"/],
  ])("refuses %s", async (_sentence, content, message) => {
    const error: unknown = await withFile(content).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  test("says that the file cannot be read", async () => {
    const options = { ...OPTIONS, leaderMigrationConfig: join(folder, "gone.yaml") };
    await expect(readMigration(options)).rejects.toThrow(/--leader-migration-config cannot be read: ENOENT/);
  });
});
