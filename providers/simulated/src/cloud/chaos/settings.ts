import { Compile } from "typebox/compile";
import { Settings, type SettingsPatch } from "../../api/admin.ts";
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/meta.ts";

/** A cloud without latency, limits worth mention, or delays. */
const defaultSettings: Settings = {
  latency: {},
  concurrency: {},
  quotas: { instances: 32_000, loadBalancers: 1000, routes: 32_000, volumes: 32_000 },
  rateLimit: { perSecond: 0, burst: 100 },
  consistency: { listLagMs: 0, getLagMs: 0 },
  delays: {
    instanceStartMs: 0,
    instanceStopMs: 0,
    instanceTerminateMs: 0,
    tombstoneMs: 3_600_000,
    loadBalancerCreateMs: 0,
    loadBalancerUpdateMs: 0,
    loadBalancerDeleteMs: 0,
  },
};

const check = Compile(Settings);
const key = "settings";

/** The settings in force, kept with the state. */
export class SettingsStore {
  readonly #database: Database;
  #settings: Settings;

  constructor(database: Database) {
    this.#database = database;
    this.#settings = readSettings(database);
  }

  get(): Settings {
    return this.#settings;
  }

  change(patch: SettingsPatch): Settings {
    this.#settings = mergeSettings(this.#settings, patch);
    writeMeta(this.#database, key, JSON.stringify(this.#settings));
    return this.#settings;
  }

  reset(): Settings {
    return this.change(defaultSettings);
  }
}

const mergeSettings = (settings: Settings, patch: SettingsPatch): Settings => ({
  latency: patch.latency ?? settings.latency,
  concurrency: patch.concurrency ?? settings.concurrency,
  quotas: { ...settings.quotas, ...patch.quotas },
  rateLimit: { ...settings.rateLimit, ...patch.rateLimit },
  consistency: { ...settings.consistency, ...patch.consistency },
  delays: { ...settings.delays, ...patch.delays },
});

/** A state file of another release may hold other settings: then the defaults are better than no start. */
const readSettings = (database: Database): Settings => {
  const text = readMeta(database, key);
  if (text === undefined) return defaultSettings;
  const stored: unknown = JSON.parse(text);
  return check.Check(stored) ? stored : defaultSettings;
};
