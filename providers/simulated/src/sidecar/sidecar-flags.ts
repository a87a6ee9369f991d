import type { CallRate } from "@cloudwire/provider-sdk";
import type { Flags, FlagValues } from "../options/flags.ts";
import type { ParsedOptions } from "../options/program.ts";

export const sidecarEnvPrefix = "SIMCLOUD_";

export const sidecarFlags = {
  endpoint: {
    valueName: "unix:///path.sock",
    env: "CLOUD_PROVIDER_ENDPOINT",
    help: "Socket to serve the contract on. Required.",
  },
  "cloud-url": {
    valueName: "url",
    env: "SIMCLOUD_URL",
    help: "Base URL of the simulated cloud. Default http://127.0.0.1:7070.",
  },
  "api-key": { valueName: "key", help: "API key; other users of the machine can see it, a file is better." },
  "api-key-file": { valueName: "path", help: "File with the API key; a new key in it is taken within 5 seconds." },
  brand: {
    valueName: "word",
    help: "For one of several simulated clouds in a cluster: its provider IDs begin with word://, its name and load balancer classes with word. Default: none.",
  },
  "in-tree-plugin": {
    valueName: "name",
    repeated: true,
    help: "Legacy in-tree volume plugin, such as kubernetes.io/cinder, whose volume ids are this cloud's. Default: none.",
  },
  "cloud-call-rate": {
    valueName: "rate[:burst]",
    help: "Requests a second that the account's rate limit leaves to this cluster, and how many at once, such as 20:40; the controller keeps to it. Default: none, as the cloud has no limit unless it is given one.",
  },
  "max-concurrent-changes": {
    valueName: "count",
    help: "Changes of load balancers that the cloud takes at once; the controller is allowed up to four times as many, 50 at most, as many of them wait for a look-up that they share. Default 50: the cloud takes any number unless it is given a limit, and beyond this they would only stand in its line instead of the controller's.",
  },
  "min-resync-interval-ms": {
    valueName: "ms",
    help: "Minimum time between two lists of all routes or load balancers. Default: 60000, that of the contract.",
  },
  "call-timeout-ms": { valueName: "ms", help: "Longest time of one call of the cloud. Default 10000." },
} as const satisfies Flags;

export interface SidecarOptions {
  readonly endpoint: string | undefined;
  readonly cloudUrl: string;
  readonly key: { readonly kind: "text"; readonly text: string } | { readonly kind: "file"; readonly path: string };
  readonly callTimeoutMs: number;
  readonly brand: string | undefined;
  readonly inTreePlugins: readonly string[];
  readonly callRate: CallRate | undefined;
  readonly maxConcurrentChanges: number | undefined;
  readonly minResyncIntervalMs: number | undefined;
}

/** Turns what was given into options; collects everything that is wrong. */
export function toSidecarOptions(values: FlagValues<keyof typeof sidecarFlags>): ParsedOptions<SidecarOptions> {
  const problems: string[] = [];
  const cloudUrl = values.one("cloud-url") ?? "http://127.0.0.1:7070";
  const protocol = URL.parse(cloudUrl)?.protocol;
  if (protocol !== "http:" && protocol !== "https:") {
    problems.push(`--cloud-url ${cloudUrl}: must be a URL, such as http://127.0.0.1:7070`);
  }
  const callTimeoutText = values.one("call-timeout-ms") ?? "10000";
  const callTimeoutMs = Number(callTimeoutText);
  if (!isWhole(callTimeoutMs, 600_000)) {
    problems.push(`--call-timeout-ms ${callTimeoutText}: must be a whole number of milliseconds, 1 to 600000`);
  }
  const minResyncIntervalMs = parseResync(values.one("min-resync-interval-ms"), problems);
  const maxConcurrentChanges = parseChanges(values.one("max-concurrent-changes"), problems);
  const brand = values.one("brand");
  if (brand !== undefined && !/^[a-z][a-z0-9]{0,30}$/.test(brand)) {
    problems.push(`--brand ${brand}: must be a word of lower case letters and digits, such as west`);
  }
  const callRate = parseCallRate(values.one("cloud-call-rate"), problems);
  const [text, path] = [values.one("api-key"), values.one("api-key-file")];
  if ((text === undefined) === (path === undefined)) {
    problems.push("give either --api-key-file or --api-key, the key of an account of the simulated cloud");
  }
  if (problems.length > 0) return { kind: "problems", problems };
  const key = path === undefined ? ({ kind: "text", text: text ?? "" } as const) : ({ kind: "file", path } as const);
  const [endpoint, inTreePlugins] = [values.one("endpoint"), values.all("in-tree-plugin")];
  const settings = { callTimeoutMs, brand, inTreePlugins, callRate, maxConcurrentChanges, minResyncIntervalMs };
  return { kind: "options", options: { endpoint, cloudUrl, key, ...settings } };
}

function parseChanges(given: string | undefined, problems: string[]): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (isWhole(count, 1000)) return count;
  problems.push(`--max-concurrent-changes ${given}: must be a whole number, 1 to 1000`);
  return undefined;
}

function parseResync(given: string | undefined, problems: string[]): number | undefined {
  if (given === undefined) return undefined;
  const intervalMs = Number(given);
  if (isWhole(intervalMs, 3_600_000)) return intervalMs;
  problems.push(`--min-resync-interval-ms ${given}: must be a whole number of milliseconds, 1 to 3600000`);
  return undefined;
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function parseCallRate(given: string | undefined, problems: string[]): CallRate | undefined {
  if (given === undefined) return undefined;
  const [, rate, burst] = /^(\d{1,6}(?:\.\d{1,3})?)(?::([1-9]\d{0,5}))?$/.exec(given) ?? [];
  const cloudCallsPerSecond = Number(rate);
  if (cloudCallsPerSecond > 0) return { cloudCallsPerSecond, ...(burst === undefined ? {} : { burst: Number(burst) }) };
  problems.push(`--cloud-call-rate ${given}: must be requests per second and burst, such as 20:40`);
  return undefined;
}
