import type { ProviderClient } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import { Sidecar } from "../support/sidecar.ts";
import type { Tenant } from "../support/tenant.ts";
import { isRead, type Fact, type Recording } from "./recording.ts";
import { Recorder } from "./recorder.ts";
import { Replayer } from "./replayer.ts";

/** Where a scenario is played: with the real services, or with a recording of them. */
export interface Stage {
  readonly client: ProviderClient;
  /** From now on, what the provider asks belongs to this step. */
  readonly begin: (step: string) => void;
  /** What the provider asked to be changed since the last `begin`. */
  readonly writes: () => readonly string[];
  /** What is known of the cloud; made in it when the scenario is recorded, in which case it has gone again at the end if `undo` says how. */
  readonly fact: (name: string, make: (tenant: Tenant) => Promise<Fact>, undo?: Undo) => Promise<Fact>;
  /** Something that another process does just before the provider's next change arrives. */
  readonly beforeNextWrite: (work: (tenant: Tenant) => Promise<unknown>) => void;
}

type Undo = (tenant: Tenant, fact: Fact) => Promise<unknown>;

type Env = Readonly<Record<string, string>>;

export interface Scenario {
  readonly name: string;
  /** Of the provider's environment, what is the scenario's. */
  readonly env: (places: Fact) => Env;
  readonly play: (stage: Stage, places: Fact) => Promise<void>;
}

/** The fact that every recording has: ids of what was in the cloud before. */
const PLACES = "places";
/** What recordings call the project, and whatever is named after it. */
const projectName = "cluster";

/** Beginnings of the addresses that Neutron hands out to tenants. */
const handedOut = ["10.60.0.", "198.51.100."];

/**
 * Plays a scenario with the real services, and answers with what passed.
 * @param services their versions, for people who read the recording
 */
export async function record(
  scenario: Scenario,
  tenant: Tenant,
  services: Readonly<Record<string, string>>,
): Promise<Recording> {
  const { cloud, credential, parts } = tenant;
  const project = await tenant.admin.ask("keystone", "GET", `/projects/${tenant.member.projectId}`);
  const names = new Map([[String(at(project, "project", "name")), projectName]]);
  const secrets = [credential.secret];
  const { authUrl } = cloud;
  await using recorder = await Recorder.start({
    scenario: scenario.name,
    authUrl,
    services,
    secrets,
    names,
    handedOut,
  });
  const places = { ...parts, region: cloud.region, zone: cloud.zone, applicationCredential: credential.id };
  recorder.addFact(PLACES, places);
  const undone: (() => Promise<unknown>)[] = [];
  try {
    await using provider = await startProvider(envOf(scenario, recorder.authUrl, places, credential.secret));
    await scenario.play(
      {
        client: provider.client,
        begin: (step) => recorder.begin(step),
        writes: () => recorder.asked().filter(isChange),
        fact: async (name, make, undo) => {
          const fact = await make(tenant);
          recorder.addFact(name, fact);
          if (undo) undone.unshift(() => undo(tenant, fact));
          return fact;
        },
        beforeNextWrite: (work) => recorder.beforeNextWrite(() => work(tenant)),
      },
      places,
    );
  } finally {
    for (const undo of undone) await undo();
  }
  return recorder.recording();
}

/** Plays a scenario with a recording; answers with the requests that differ from the recorded ones, which are also reported when something else fails. */
export async function replay(scenario: Scenario, recording: Recording): Promise<readonly string[]> {
  await using replayer = await Replayer.start(recording);
  const places = replayer.fact(PLACES);
  try {
    await using provider = await startProvider(envOf(scenario, replayer.authUrl, places, replayer.secret));
    await scenario.play(
      {
        client: provider.client,
        begin: (step) => replayer.begin(step),
        writes: () => replayer.asked().filter(isChange),
        fact: async (name) => replayer.fact(name),
        beforeNextWrite: () => undefined,
      },
      places,
    );
  } catch (cause) {
    throw replayer.problems.length > 0 ? new Error(replayer.problems.join("\n\n"), { cause }) : cause;
  }
  replayer.end();
  return replayer.problems;
}

/** A new token is no change. */
function isChange(ask: string): boolean {
  return !isRead({ ask }) && !ask.startsWith("POST /identity/");
}

const checkedMs = 60_000;

/** The provider after its first check, which belongs to no step. */
async function startProvider(env: Env): Promise<Sidecar> {
  const provider = await Sidecar.start({ env });
  await eventually("the provider's first check of Nova", checkedMs, async () => {
    const { conditions } = await provider.client.getProviderStatus();
    return conditions.some(({ reason }) => reason !== "NotChecked") ? true : undefined;
  });
  return provider;
}

function envOf({ env }: Scenario, authUrl: string, places: Fact, secret: string): Env {
  return {
    OS_AUTH_URL: authUrl,
    OS_REGION_NAME: places["region"] ?? "",
    OS_APPLICATION_CREDENTIAL_ID: places["applicationCredential"] ?? "",
    OS_APPLICATION_CREDENTIAL_SECRET: secret,
    ...env(places),
  };
}
