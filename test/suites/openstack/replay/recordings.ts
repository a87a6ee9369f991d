import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { Tenant } from "../support/tenant.ts";
import { formatRecording, parseRecording, type Recording } from "./recording.ts";
import { record, type Scenario } from "./stage.ts";

const directory = new URL("../services/recordings/", import.meta.url);

const fileOf = ({ name }: Pick<Scenario, "name">): URL => new URL(`${name}.jsonl`, directory);

/** Whatever is installed, `nova==34.0.0` a line. */
const requirements = new URL("../services/requirements.txt", import.meta.url);

/** Versions of the services that are tested with. */
async function versions(): Promise<Recording["services"]> {
  const lines = (await readFile(requirements, "utf8")).matchAll(/^(keystone|nova|neutron|octavia|cinder)==(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = "", version = ""]) => [name, version]));
}

/** Plays a scenario with the real services and keeps what passed, for the replays in CI. Answers with it, as it is read again. */
export async function recordScenario(scenario: Scenario, tenant: Tenant): Promise<Recording> {
  const text = formatRecording(await record(scenario, tenant, await versions()));
  await mkdir(directory, { recursive: true });
  await writeFile(fileOf(scenario), text);
  return parseRecording(text);
}

/** @throws Error when there is none */
export async function readRecording(scenario: Scenario): Promise<Recording> {
  return parseRecording(await readFile(fileOf(scenario), "utf8"));
}
