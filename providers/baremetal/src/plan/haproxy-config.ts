import { createHash } from "node:crypto";
import { join } from "node:path";
import type { HaproxyConfig } from "../config/config.ts";
import type { LoadBalancerRecord } from "../state/state.ts";
import { withPort } from "@cloudwire/provider-sdk/addresses";
import { type Backend, type Listener, listenersOf } from "./endpoints.ts";

export interface HaproxyPlan {
  /** The whole configuration file. */
  readonly text: string;
  /** Of all but the servers: another one needs a reload, the same can be reached by changing servers alone. */
  readonly structure: string;
  readonly servers: readonly HaproxyServer[];
  readonly isEmpty: boolean;
}

export interface HaproxyServer {
  readonly backend: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** What stands behind address and port in the file, and in `add server`. */
  readonly settings: string;
}

/** Files of a running HAProxy. */
export function haproxyFiles(runDir: string) {
  return {
    config: join(runDir, "haproxy.cfg"),
    worker: join(runDir, "haproxy-worker.sock"),
    master: join(runDir, "haproxy-master.sock"),
    pid: join(runDir, "haproxy.pid"),
    log: join(runDir, "haproxy.log"),
  };
}

/** The desired HAProxy configuration for all load balancers. */
export function renderHaproxy(config: HaproxyConfig, records: readonly LoadBalancerRecord[]): HaproxyPlan {
  const listeners = listenersOf(records, "haproxy");
  const proxies = listeners.map((listener) => ({ head: renderProxy(listener), servers: serversOf(listener, config) }));
  const structureText = [renderStart(config, ""), ...proxies.map(({ head }) => head)].join("\n");
  const structure = createHash("sha256").update(structureText).digest("hex").slice(0, 16);
  const text = [
    "# Written by cloudwire-provider-baremetal whenever something changes. Do not edit.",
    renderStart(config, structure),
    ...proxies.map(({ head, servers }) => [head, ...servers.map(renderServer)].join("\n")),
    "",
  ].join("\n");
  return { text, structure, servers: proxies.flatMap(({ servers }) => servers), isEmpty: listeners.length === 0 };
}

function renderStart(config: HaproxyConfig, structure: string): string {
  return [
    "global",
    `  description cloudwire-${structure}`,
    ...(config.maxConnections === undefined ? [] : [`  maxconn ${config.maxConnections}`]),
    `  stats socket ${haproxyFiles(config.runDir).worker} mode 600 level admin expose-fd listeners`,
    "  stats timeout 1m",
    ...(config.user === undefined ? [] : [`  user ${config.user}`]),
    ...(config.group === undefined ? [] : [`  group ${config.group}`]),
    "defaults",
    "  mode tcp",
    `  timeout connect ${config.connectTimeoutMs}ms`,
    `  timeout client ${config.idleTimeoutMs}ms`,
    `  timeout server ${config.idleTimeoutMs}ms`,
    `  timeout check ${Math.min(config.checkIntervalMs, 2_000)}ms`,
    // A node that does not answer costs a client one time-out, no error: the next try goes to another node.
    "  retries 3",
    "  option redispatch 1",
    "  option tcp-check",
  ].join("\n");
}

function renderProxy({ name, address, port, loadBalancer, backends }: Listener): string {
  const { sourceRanges, hasAffinity, healthCheck } = loadBalancer;
  const path = healthCheck?.path ?? backends[0]?.checkPath;
  return [
    `frontend ${name}`,
    `  bind ${withPort(address, port.port)}`,
    ...(sourceRanges.length === 0
      ? []
      : [`  tcp-request connection reject unless { src ${sourceRanges.toSorted().join(" ")} }`]),
    `  default_backend ${name}`,
    `backend ${name}`,
    ...(hasAffinity ? ["  balance source", "  hash-type consistent"] : ["  balance roundrobin"]),
    ...(path === undefined ? [] : [`  option httpchk GET ${path}`, "  http-check expect status 200"]),
  ].join("\n");
}

function serversOf(
  { name, backends, loadBalancer }: Listener,
  { checkIntervalMs }: HaproxyConfig,
): readonly HaproxyServer[] {
  return backends.map((backend) => ({
    backend: name,
    name: serverName(backend),
    address: backend.address,
    port: backend.port,
    settings: `check port ${backend.checkPort ?? backend.port} inter ${checkIntervalMs}ms fall 2 rise 2${loadBalancer.sendsProxyHeader ? " send-proxy-v2" : ""}`,
  }));
}

/** Another address is another server. */
function serverName({ node, address, port, checkPort }: Backend): string {
  const hash = createHash("sha256")
    .update(`${node} ${address} ${port} ${checkPort ?? 0}`)
    .digest("hex")
    .slice(0, 8);
  return `${node.slice(0, 60)}-${hash}`;
}

function renderServer({ name, address, port, settings }: HaproxyServer): string {
  return `  server ${name} ${withPort(address, port)} ${settings}`;
}

/** Commands of the runtime API that bring a worker's servers up to date. */
export interface ServerSteps {
  readonly commands: readonly string[];
  /** Servers that accept no new connections and cannot be removed while connections remain. */
  readonly leaving: readonly string[];
}

/** One server in the output of `show servers state`. */
export interface RunningServer {
  readonly backend: string;
  readonly name: string;
  readonly isInMaintenance: boolean;
}

export function planServers(wanted: readonly HaproxyServer[], running: readonly RunningServer[]): ServerSteps {
  const idOf = ({ backend, name }: { backend: string; name: string }): string => `${backend}/${name}`;
  const there = new Map(running.map((server) => [idOf(server), server]));
  const kept = new Set(wanted.map(idOf));
  const added = wanted.flatMap((server) => {
    const id = idOf(server);
    const present = there.get(id);
    if (present?.isInMaintenance) return [`set server ${id} state ready`];
    if (present !== undefined) return [];
    const add = `add server ${id} ${withPort(server.address, server.port)} ${server.settings}`;
    return [`${add}; enable server ${id}; enable health ${id}`];
  });
  const gone = running.filter((server) => !kept.has(idOf(server)));
  const stopped = gone.filter(({ isInMaintenance }) => !isInMaintenance);
  return {
    // First the new ones: a backend without any server refuses.
    commands: [...added, ...stopped.map((server) => `set server ${idOf(server)} state maint`)],
    leaving: gone.map(idOf),
  };
}

/** Reads `show servers state`. */
export function parseServersState(text: string): readonly RunningServer[] {
  const rows = text.split("\n").map((line) => line.trim());
  const header =
    rows
      .find((row) => row.startsWith("# be_id"))
      ?.slice(2)
      .split(" ") ?? [];
  const column = (cells: readonly string[], name: string): string => cells[header.indexOf(name)] ?? "";
  return rows
    .filter((row) => /^\d+ /.test(row))
    .map((row) => row.split(" "))
    .map((cells) => ({
      backend: column(cells, "be_name"),
      name: column(cells, "srv_name"),
      // Bit 0: by command; bit 5 would be by its name's resolution, which nothing here has.
      isInMaintenance: (Number(column(cells, "srv_admin_state")) & 1) === 1,
    }));
}
