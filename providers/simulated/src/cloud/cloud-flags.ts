import type { AccountSpec } from "../api/admin.ts";
import type { Flags, FlagValues } from "../options/flags.ts";
import type { ParsedOptions } from "../options/program.ts";
import type { Region } from "./geography.ts";
import type { CloudOptions } from "./start-cloud.ts";

export const cloudEnvPrefix = "SIMCLOUD_";

export const cloudFlags = {
  listen: { valueName: "host:port", help: "Address of the HTTP API; port 0 takes any. Default 127.0.0.1:7070." },
  state: { valueName: "path", help: "State file, made if it is not there; :memory: forgets. Default simcloud.db." },
  account: {
    valueName: "id=key[=viewer]",
    repeated: true,
    help: "API key of an account; a viewer may only read. Default demo=demo-key.",
  },
  region: { valueName: "name=zone,zone", repeated: true, help: "A region and its zones. Default: north and south." },
  "instance-pool": { valueName: "cidr", help: "Internal addresses of instances. Default 127.10.0.0/16." },
  "load-balancer-pool": { valueName: "cidr", help: "Addresses of load balancers. Default 127.20.0.0/16." },
  "listen-port-offset": {
    valueName: "number|auto",
    help: "Load balancers listen on port plus this. Default auto: 0, or 10000 where this user may not listen below 1024.",
  },
  "admin-key": { valueName: "key", help: "Key of the admin API; without one it answers this machine only." },
  seed: { valueName: "number", help: "Seed of ids, jitter and probabilities. Default 1." },
  "log-level": { valueName: "level", help: "trace, debug, info, warn, error or silent. Default info." },
} as const satisfies Flags;

/** Turns what was given into options; collects everything that is wrong. */
export function toCloudOptions(values: FlagValues<keyof typeof cloudFlags>): ParsedOptions<CloudOptions> {
  const problems: string[] = [];
  const listen = parseListen(values.one("listen") ?? "127.0.0.1:7070", problems);
  const accounts = values.all("account").map((text) => parseAccount(text, problems));
  const geography = values.all("region").map((text) => parseRegion(text, problems));
  const seed = parseInteger("--seed", values.one("seed"), 1, problems);
  const listenPortOffset = parseOffset(values.one("listen-port-offset") ?? "auto", problems);
  const logLevel = values.one("log-level") ?? "info";
  if (!logLevels.includes(logLevel)) problems.push(`--log-level ${logLevel}: must be one of ${logLevels.join(", ")}`);
  if (problems.length > 0) return { kind: "problems", problems };
  const options: CloudOptions = {
    ...listen,
    statePath: values.one("state") ?? "simcloud.db",
    ...(accounts.length > 0 ? { accounts } : {}),
    ...(geography.length > 0 ? { geography } : {}),
    ...optional("instancePool", values.one("instance-pool")),
    ...optional("loadBalancerPool", values.one("load-balancer-pool")),
    ...optional("adminKey", values.one("admin-key")),
    listenPortOffset,
    seed,
    logLevel,
  };
  return { kind: "options", options };
}

const logLevels: readonly string[] = ["trace", "debug", "info", "warn", "error", "silent"];

function parseListen(text: string, problems: string[]): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  problems.push(`--listen ${text}: must be host:port, such as 127.0.0.1:7070`);
  return { host: "", port: 0 };
}

function parseAccount(text: string, problems: string[]): AccountSpec {
  const [id = "", key = "", role = "editor", ...rest] = text.split("=");
  const isRole = role === "editor" || role === "viewer";
  if (/^[a-z0-9-]{1,63}$/.test(id) && key !== "" && isRole && rest.length === 0) return { id, key, role };
  // The key is a secret: show only the ID.
  problems.push(`--account ${id}=…: must be id=key or id=key=viewer, the id of lower case letters, digits and dashes`);
  return { id, key };
}

function parseRegion(text: string, problems: string[]): Region {
  const [name = "", zoneText = "", ...rest] = text.split("=");
  const zones = zoneText.split(",");
  const names = [name, ...zones];
  if (rest.length > 0 || !names.every((part) => /^[a-z0-9-]{1,63}$/.test(part))) {
    problems.push(`--region ${text}: must be name=zone,zone, all of lower case letters, digits and dashes`);
  }
  return { name, zones };
}

function parseOffset(text: string, problems: string[]): number | "auto" {
  return text === "auto" ? text : parseInteger("--listen-port-offset", text, 0, problems);
}

function parseInteger(flag: string, text: string | undefined, fallback: number, problems: string[]): number {
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  problems.push(`${flag} ${text}: must be a whole number, not negative`);
  return fallback;
}

function optional<const Key extends string>(key: Key, value: string | undefined): Partial<Record<Key, string>> {
  const found: Partial<Record<string, string>> = value === undefined ? {} : { [key]: value };
  return found;
}
