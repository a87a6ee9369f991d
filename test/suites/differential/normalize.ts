import { allowances } from "./allowances.ts";
import type { Exchange } from "./recorder.ts";
import { isRecord, type JsonRecord, textAt } from "./value.ts";

/**
 * The answers of a scenario with everything replaced that no two servers share: uids, times, generated names, addresses and ports by the order
 * in which they appear, resourceVersions by their rank among those of the scenario.
 */
export function normalize(exchanges: readonly Exchange[]): readonly unknown[] {
  const forgiven = exchanges.map((exchange) => forgive(exchange, { request: exchange.request, key: "" }));
  const ranks = rankVersions(forgiven);
  const aliases = new Map<string, string>();
  return forgiven.map((exchange) => replaceValues(exchange, { ranks, aliases, key: "", versionKind: "object" }));
}

function forgive(value: unknown, place: { readonly request: string; readonly key: string }): unknown {
  const forgiven = allowances.reduce((current, allowance) => allowance.forgive(current, place), value);
  if (Array.isArray(forgiven)) return forgiven.map((element) => forgive(element, { ...place, key: "" }));
  if (!isRecord(forgiven)) return forgiven;
  return Object.fromEntries(
    Object.entries(forgiven).map(([key, inner]) => [key, forgive(inner, { ...place, key })] as const),
  );
}

interface Context {
  readonly ranks: ReadonlyMap<string, number>;
  readonly aliases: Map<string, string>;
  readonly key: string;
  /** Whose resourceVersion comes next: of an object, or of a list or bookmark, which only follows the whole server. */
  readonly versionKind: "object" | "server";
}

function rankVersions(exchanges: readonly unknown[]): ReadonlyMap<string, number> {
  const found = new Set<string>();
  const collect = (value: unknown, versionKind: Context["versionKind"]): void => {
    if (Array.isArray(value)) {
      for (const element of value) collect(element, "object");
    } else if (isRecord(value)) {
      const { resourceVersion } = value;
      if (versionKind === "object" && typeof resourceVersion === "string") found.add(resourceVersion);
      for (const [key, inner] of Object.entries(value))
        collect(inner, key === "metadata" ? kindOfVersion(value) : versionKind);
    }
  };
  for (const exchange of exchanges) collect(exchange, "object");
  const sorted = [...found].sort((left, right) => Number(left) - Number(right));
  return new Map(sorted.map((version, index) => [version, index + 1] as const));
}

function replaceValues(value: unknown, context: Context): unknown {
  if (typeof value === "string") return replaceText(value, context);
  if (typeof value === "number" && (context.key === "nodePort" || context.key === "healthCheckNodePort")) {
    return alias(context, `port ${value}`, "node-port");
  }
  if (Array.isArray(value)) {
    return value.map((element) => replaceValues(element, { ...context, key: context.key, versionKind: "object" }));
  }
  if (!isRecord(value)) return value;
  // Keys in one order, so that things are met in one order.
  const keys = Object.keys(value).sort();
  return Object.fromEntries(
    keys.map((key) => {
      const versionKind = key === "metadata" ? kindOfVersion(value) : context.versionKind;
      return [key, replaceValues(value[key], { ...context, key, versionKind })] as const;
    }),
  );
}

/** Lists, tables and bookmarks carry the revision of the whole server. */
function kindOfVersion(owner: JsonRecord): Context["versionKind"] {
  const kind = textAt(owner, "kind");
  const nameless = textAt(owner, "metadata", "name") === "" && textAt(owner, "metadata", "uid") === "";
  return kind.endsWith("List") || kind === "Table" || nameless ? "server" : "object";
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const clusterIp = /\b10\.96\.\d+\.\d+\b/g;

function replaceText(value: string, context: Context): unknown {
  if (context.key === "resourceVersion") {
    return context.versionKind === "server" ? "<revision>" : `<version ${context.ranks.get(value) ?? value}>`;
  }
  if (context.key === "continue") return describeToken(value);
  if (context.key === "request") {
    return value
      .replace(/continue=[\w-]+/, "continue=<token>")
      .replace(/resourceVersion=\d{2,7}\b/, "resourceVersion=<version>");
  }
  if (context.key === "cells" && /^\d+[smhd](\d+[smh])?$/.test(value)) return "<age>";
  return value
    .replaceAll(uid, (found) => alias(context, found, "uid"))
    .replaceAll(time, (_found, fraction: string | undefined) => (fraction === undefined ? "<time>" : "<micro time>"))
    .replaceAll(clusterIp, (found) => (found === "10.96.0.1" ? found : alias(context, found, "cluster-ip")))
    .replaceAll(/:(3[0-2]\d{3})\//g, (_found, port: string) => `:${alias(context, `port ${port}`, "node-port")}/`)
    .replaceAll(/([Gg]enerated[-_])[a-z0-9]{5}\b/g, "$1<suffix>")
    .replaceAll(/(resource version: \d+, current: )\d+/g, "$1<revision>")
    .replaceAll(/(too old resource version: )\d+ \(\d+\)/g, "$1<version> (<version>)")
    .replaceAll(/(in record \()\d+/g, "$1<version>");
}

function describeToken(token: string): unknown {
  const decoded: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
  return isRecord(decoded)
    ? { v: decoded["v"], start: String(decoded["start"]).replace(/^\//, ""), current: decoded["rv"] === -1 }
    : decoded;
}

function alias({ aliases }: Context, found: string, kind: string): string {
  const known = aliases.get(found);
  if (known !== undefined) return known;
  const count = [...aliases.values()].filter((name) => name.startsWith(`<${kind} `)).length;
  const name = `<${kind} ${count + 1}>`;
  aliases.set(found, name);
  return name;
}
