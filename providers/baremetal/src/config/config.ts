import { type Static, Type } from "typebox";
import { parse as parseYaml } from "yaml";
import { type Checked, checked } from "../util/checked.ts";
import { type AddressRange, overlap, parseRange } from "@cloudwire/provider-sdk/addresses";
import { labelValue } from "../util/kubernetes.ts";

const name = Type.String({ pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" });
const path = Type.String({ pattern: "^/" });
const interfaceName = Type.String({ pattern: "^[A-Za-z0-9_.-]{1,15}$" });
const strict = { additionalProperties: false };

const inventorySchema = Type.Object({ path }, strict);

const uri = Type.String({ pattern: "^[a-z]+(\\+[a-z0-9]+)?://\\S{0,500}$" });

const libvirtHostSchema = Type.Object(
  {
    name,
    uri,
    type: Type.Optional(labelValue),
    zone: Type.Optional(labelValue),
    region: Type.Optional(labelValue),
  },
  strict,
);

const libvirtSchema = Type.Object(
  {
    hosts: Type.Array(libvirtHostSchema, { minItems: 1, maxItems: 200 }),
    program: Type.Optional(Type.String()),
    addressSource: Type.Optional(Type.Union([Type.Literal("lease"), Type.Literal("agent"), Type.Literal("arp")])),
    networks: Type.Optional(Type.Array(Type.String())),
  },
  strict,
);

const poolSchema = Type.Object(
  {
    name,
    ranges: Type.Array(Type.String(), { minItems: 1 }),
    announce: Type.Optional(Type.Union([Type.Literal("arp"), Type.Literal("bgp"), Type.Literal("none")])),
    interface: Type.Optional(interfaceName),
    autoAssign: Type.Optional(Type.Boolean()),
  },
  strict,
);

const haproxySchema = Type.Object(
  {
    program: Type.Optional(Type.String()),
    start: Type.Optional(Type.Boolean()),
    runDir: Type.Optional(path),
    user: Type.Optional(Type.String({ pattern: "^[a-z_][a-z0-9_-]{0,31}$" })),
    group: Type.Optional(Type.String({ pattern: "^[a-z_][a-z0-9_-]{0,31}$" })),
    maxConnections: Type.Optional(Type.Integer({ minimum: 100, maximum: 10_000_000 })),
    connectTimeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 60_000 })),
    idleTimeoutMs: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 86_400_000 })),
    checkIntervalMs: Type.Optional(Type.Integer({ minimum: 200, maximum: 60_000 })),
  },
  strict,
);

const nftablesSchema = Type.Object(
  {
    program: Type.Optional(Type.String()),
    table: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9_]{0,30}$" })),
    checkIntervalMs: Type.Optional(Type.Integer({ minimum: 200, maximum: 60_000 })),
  },
  strict,
);

const routesSchema = Type.Object(
  {
    protocol: Type.Optional(Type.Integer({ minimum: 5, maximum: 255 })),
    table: Type.Optional(Type.Integer({ minimum: 1, maximum: 4_294_967_294 })),
  },
  strict,
);

const birdSchema = Type.Object(
  { include: path, program: Type.Optional(Type.String()), socket: Type.Optional(path) },
  strict,
);

const configSchema = Type.Object(
  {
    site: name,
    stateDir: path,
    inventory: Type.Optional(inventorySchema),
    libvirt: Type.Optional(libvirtSchema),
    pools: Type.Optional(Type.Array(poolSchema)),
    haproxy: Type.Optional(haproxySchema),
    nftables: Type.Optional(nftablesSchema),
    routes: Type.Optional(Type.Union([routesSchema, Type.Literal(false)])),
    bird: Type.Optional(birdSchema),
    reconcileIntervalMs: Type.Optional(Type.Integer({ minimum: 500, maximum: 600_000 })),
  },
  strict,
);

/** Addresses for load balancers, and how the network learns where they are. */
export interface Pool {
  readonly name: string;
  readonly ranges: readonly AddressRange[];
  readonly announce: "arp" | "bgp" | "none";
  /** Where addresses are put; `lo` unless they are announced by ARP. */
  readonly interface: string;
  /** False: only Services that name the pool or an address of it get one. */
  readonly autoAssign: boolean;
}

export interface HaproxyConfig {
  readonly program: string;
  /** True: the provider starts it if it does not run; it outlives the provider. */
  readonly start: boolean;
  readonly runDir: string;
  readonly user: string | undefined;
  readonly group: string | undefined;
  /** Undefined: as many as the limit of open files lets HAProxy have. */
  readonly maxConnections: number | undefined;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly checkIntervalMs: number;
}

/** A hypervisor, and the common values of its machines. */
export interface LibvirtHost {
  /** In logs and messages. */
  readonly name: string;
  readonly uri: string;
  readonly type: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
}

/** Where domains of libvirt are found. */
export interface LibvirtConfig {
  readonly kind: "libvirt";
  readonly hosts: readonly LibvirtHost[];
  readonly program: string;
  /** Who knows addresses: libvirt's DHCP server, the guest's agent, or the host's ARP table. */
  readonly addressSource: "lease" | "agent" | "arp";
  /** Only addresses in these networks are reported; empty: all. */
  readonly networks: readonly AddressRange[];
}

/** The configuration file, with every default filled in. */
export interface Config {
  readonly site: string;
  readonly stateDir: string;
  readonly machines: { readonly kind: "inventory"; readonly path: string } | LibvirtConfig;
  readonly pools: readonly Pool[];
  readonly haproxy: HaproxyConfig;
  readonly nftables: { readonly program: string; readonly table: string; readonly checkIntervalMs: number };
  readonly routes: { readonly protocol: number; readonly table: number } | undefined;
  readonly bird:
    | { readonly include: string; readonly program: string; readonly socket: string | undefined }
    | undefined;
  readonly reconcileIntervalMs: number;
}

type File = Static<typeof configSchema>;

/** Reads the text of the configuration file; answers it with defaults, or everything that is wrong. */
export function parseConfig(text: string): Checked<Config> {
  let data: unknown;
  try {
    data = parseYaml(text);
  } catch (error) {
    return {
      kind: "problems",
      problems: [`is not valid YAML: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
  const file = checked(configSchema, data);
  if (file.kind === "problems") return file;
  const problems: string[] = [];
  const pools = (file.value.pools ?? []).map((pool, index) => toPool(pool, `pools[${index}]`, problems));
  checkPools(pools, file.value, problems);
  const machines = toSource(file.value, problems);
  if (problems.length > 0 || machines === undefined) return { kind: "problems", problems };
  return { kind: "value", value: toConfig(file.value, pools, machines) };
}

/** Undefined: no source of machines is set, which is one of the problems. */
function toSource({ inventory, libvirt }: File, problems: string[]): Config["machines"] | undefined {
  if (inventory !== undefined && libvirt !== undefined)
    problems.push("libvirt: conflicts with inventory; set only one of them");
  if (inventory !== undefined) return { kind: "inventory", path: inventory.path };
  if (libvirt === undefined) {
    problems.push("inventory: is missing; set inventory or libvirt");
    return undefined;
  }
  const { hosts, program = "virsh", addressSource = "lease" } = libvirt;
  hosts.forEach((host, index) => {
    const isTaken = hosts.slice(0, index).some((other) => other.name === host.name);
    if (isTaken) problems.push(`libvirt.hosts[${index}].name: duplicate host ${host.name}`);
  });
  const networks = (libvirt.networks ?? []).flatMap((text, index) => {
    const network = parseRange(text);
    if (network === undefined)
      problems.push(`libvirt.networks[${index}]: ${text} is not a network, such as 10.50.0.0/24`);
    return network ?? [];
  });
  const rows = hosts.map(({ type, zone, region, ...host }) => ({ ...host, type, zone, region }));
  return { kind: "libvirt", hosts: rows, program, addressSource, networks };
}

function toPool(pool: Static<typeof poolSchema>, place: string, problems: string[]): Pool {
  const ranges = pool.ranges.flatMap((text, index) => {
    const range = parseRange(text);
    if (range === undefined) {
      problems.push(
        `${place}.ranges[${index}]: ${text} is not an address range, such as 192.0.2.10-192.0.2.50 or 2001:db8::/120`,
      );
    }
    return range ?? [];
  });
  const announce = pool.announce ?? "none";
  if (announce === "arp" && pool.interface === undefined) {
    problems.push(`${place}.interface: is missing; addresses announced by ARP need the interface of their network`);
  }
  return {
    name: pool.name,
    ranges,
    announce,
    interface: pool.interface ?? "lo",
    autoAssign: pool.autoAssign ?? true,
  };
}

function checkPools(pools: readonly Pool[], file: File, problems: string[]): void {
  pools.forEach((pool, index) => {
    for (const other of pools.slice(0, index)) {
      if (other.name === pool.name) problems.push(`pools[${index}].name: duplicate pool ${pool.name}`);
      if (pool.ranges.some((range) => other.ranges.some((taken) => overlap(range, taken)))) {
        problems.push(`pools[${index}].ranges: shares addresses with pool ${other.name}`);
      }
    }
    if (pool.announce === "bgp" && file.bird === undefined) {
      problems.push(`pools[${index}].announce: bgp requires the section bird with the file to include`);
    }
  });
}

function toConfig(file: File, pools: readonly Pool[], machines: Config["machines"]): Config {
  const { haproxy = {}, nftables = {}, routes = {}, bird } = file;
  return {
    site: file.site,
    stateDir: file.stateDir,
    machines,
    pools,
    haproxy: { ...haproxyDefaults, runDir: file.stateDir, ...haproxy },
    nftables: { ...nftablesDefaults, ...nftables },
    routes: routes === false ? undefined : { ...routesDefaults, ...routes },
    bird: bird && { program: "birdc", socket: undefined, ...bird },
    reconcileIntervalMs: file.reconcileIntervalMs ?? 10_000,
  };
}

const haproxyDefaults = {
  program: "haproxy",
  start: true,
  user: undefined,
  group: undefined,
  maxConnections: undefined,
  connectTimeoutMs: 1_000,
  idleTimeoutMs: 3_600_000,
  checkIntervalMs: 1_000,
};
const nftablesDefaults = { program: "nft", table: "cloudwire", checkIntervalMs: 1_000 };
/** 254 is the kernel's main table. */
const routesDefaults = { protocol: 77, table: 254 };
