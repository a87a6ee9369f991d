import { createHash } from "node:crypto";
import type { LoadBalancerRecord } from "../state/state.ts";
import { familyOf, withPort } from "@cloudwire/provider-sdk/addresses";
import { type Backend, type Listener, listenersOf } from "./endpoints.ts";

export interface Ruleset {
  /** For `nft -f`: replaces the whole table atomically. */
  readonly text: string;
  /** Stored in the table, to identify the applied configuration. */
  readonly revision: string;
  /** Whether the table is needed at all. */
  readonly isEmpty: boolean;
}

const comment = "cloudwire";

/**
 * The table of all load balancers: what nftables forwards, who may call, and that no port of theirs is open but those asked for.
 * @param isHealthy of those that nftables forwards to
 */
export function renderRuleset(
  table: string,
  records: readonly LoadBalancerRecord[],
  isHealthy: (backend: Backend) => boolean,
): Ruleset {
  const wanted = records.filter(({ isDeleting }) => !isDeleting);
  const forwarded = listenersOf(wanted, "nftables");
  const listeners = [...forwarded, ...listenersOf(wanted, "haproxy")];
  const usable = forwarded.map((listener) => ({ ...listener, backends: listener.backends.filter(isHealthy) }));
  const served = usable.filter(({ backends }) => backends.length > 0);
  const body = [
    ...families.flatMap((family) => renderSets(family, listeners, served)),
    ...served.flatMap(renderTarget),
    ...families.flatMap((family) => renderForwardMaps(family, served)),
    ...renderFilter(listeners, usable),
    ...renderHook("forward_incoming", "prerouting", served),
    ...renderHook("forward_local", "output", served),
    ...renderMasquerade(served),
  ];
  const revision = createHash("sha256").update(body.join("\n")).digest("hex").slice(0, 16);
  const drop = [`table inet ${table}`, `delete table inet ${table}`];
  if (listeners.length === 0) return { text: `${drop.join("\n")}\n`, revision: "none", isEmpty: true };
  const marker = ["  set revision {", "    type mark", `    comment "${comment} ${revision}"`, "  }"];
  return {
    text: `${[...drop, `table inet ${table} {`, ...marker, ...body, "}"].join("\n")}\n`,
    revision,
    isEmpty: false,
  };
}

/** The revision in what `nft list set` says of the set `revision`; undefined: the table is not ours. */
export function revisionIn(listing: string): string | undefined {
  return new RegExp(`comment "${comment} ([0-9a-f]{16})"`).exec(listing)?.[1];
}

const families = [4, 6] as const;
type Family = (typeof families)[number];

const ip = (family: Family): string => (family === 4 ? "ip" : "ip6");

const place = ({ address, port }: Listener): string => `${address} . ${port.protocol.toLowerCase()} . ${port.port}`;

const chainOf = ({ name }: Listener): string => `to_${name.replaceAll("-", "_")}`;

function renderSets(family: Family, listeners: readonly Listener[], served: readonly Listener[]): readonly string[] {
  const own = listeners.filter((listener) => listener.family === family);
  const nodes = served.filter((listener) => listener.family === family).flatMap(({ backends }) => backends);
  return [
    ...renderSet(`addresses${family}`, `ipv${family}_addr`, [...new Set(own.map(({ address }) => address))]),
    ...renderSet(`services${family}`, `ipv${family}_addr . inet_proto . inet_service`, own.map(place)),
    ...renderSet(`nodes${family}`, `ipv${family}_addr`, [...new Set(nodes.map(({ address }) => address))]),
  ];
}

function renderSet(name: string, type: string, elements: readonly string[]): readonly string[] {
  const filled = elements.length === 0 ? [] : [`    elements = { ${elements.toSorted().join(", ")} }`];
  return [`  set ${name} {`, `    type ${type}`, ...filled, "  }"];
}

/** Round robin, or a hash of the client's address with session affinity. */
function renderTarget(listener: Listener): readonly string[] {
  const { family, port, backends, loadBalancer } = listener;
  const start = `    meta l4proto ${port.protocol.toLowerCase()} dnat ${ip(family)} to`;
  const [only] = backends;
  const choice = loadBalancer.hasAffinity ? `jhash ${ip(family)} saddr` : "numgen inc";
  const rule =
    only !== undefined && backends.length === 1
      ? `${start} ${withPort(only.address, only.port)}`
      : `${start} ${choice} mod ${backends.length} map { ${backends.map((to, index) => `${index} : ${to.address} . ${to.port}`).join(", ")} }`;
  return [`  chain ${chainOf(listener)} {`, rule, "  }"];
}

function renderForwardMaps(family: Family, served: readonly Listener[]): readonly string[] {
  const own = served.filter((listener) => listener.family === family);
  const elements = own.map((listener) => `${place(listener)} : goto ${chainOf(listener)}`).toSorted();
  const filled = elements.length === 0 ? [] : [`    elements = { ${elements.join(", ")} }`];
  // words-ok: nftables' data type
  const type = `ipv${family}_addr . inet_proto . inet_service : verdict`;
  return [`  map forward${family} {`, `    type ${type}`, ...filled, "  }"];
}

/** Before forwarding: drops clients that are not permitted, unconfigured ports, and services without a node. */
function renderFilter(listeners: readonly Listener[], usable: readonly Listener[]): readonly string[] {
  const limited = listeners
    .filter(({ loadBalancer }) => loadBalancer.sourceRanges.length > 0)
    .map((listener) => {
      const { address, family, port, loadBalancer } = listener;
      const ranges = loadBalancer.sourceRanges.filter((range) => familyOf(range.split("/")[0] ?? "") === family);
      const others = ranges.length === 0 ? "" : ` ${ip(family)} saddr != { ${ranges.toSorted().join(", ")} }`;
      return `    ${ip(family)} daddr ${address} ${port.protocol.toLowerCase()} dport ${port.port}${others} drop`;
    });
  const unserved = usable
    .filter(({ backends }) => backends.length === 0)
    .map(({ address, family, port }) => {
      const answer = port.protocol === "TCP" ? "reject with tcp reset" : "reject with icmpx port-unreachable";
      return `    ${ip(family)} daddr ${address} ${port.protocol.toLowerCase()} dport ${port.port} ${answer}`;
    });
  const closed = families.flatMap((family) => {
    const asked = `ct state new ${ip(family)} daddr @addresses${family} meta l4proto`;
    const known = `${ip(family)} daddr . meta l4proto . th dport != @services${family}`;
    return [
      `    ${asked} tcp ${known} reject with tcp reset`,
      `    ${asked} udp ${known} reject with icmpx port-unreachable`,
    ];
  });
  // Rules about clients match every packet, so that a connection ends when its client is no longer permitted.
  return [
    "  chain guard {",
    "    type filter hook prerouting priority -110; policy accept;",
    ...limited,
    ...unserved,
    ...closed,
    "  }",
  ];
}

function renderHook(chain: string, hook: string, served: readonly Listener[]): readonly string[] {
  const rules = families
    .filter((family) => served.some((listener) => listener.family === family))
    .map((family) => `    ${ip(family)} daddr . meta l4proto . th dport vmap @forward${family}`);
  return [`  chain ${chain} {`, `    type nat hook ${hook} priority -100; policy accept;`, ...rules, "  }"];
}

/** Clients keep their addresses, but where answers would not come back this way: to nodes, and where the Service says so. */
function renderMasquerade(served: readonly Listener[]): readonly string[] {
  const hidden = served
    .filter(({ loadBalancer }) => loadBalancer.hidesClients)
    .map(({ address, family, port }) => {
      const original = `ct original ${ip(family)} daddr ${address} ct original proto-dst ${port.port}`;
      return `    ct status dnat meta l4proto ${port.protocol.toLowerCase()} ${original} masquerade`;
    });
  const nodes = families
    .filter((family) => served.some((listener) => listener.family === family))
    .map((family) => {
      const own = `ct original ${ip(family)} daddr @addresses${family}`;
      return `    ct status dnat ${own} ${ip(family)} saddr @nodes${family} masquerade`;
    });
  return ["  chain hide {", "    type nat hook postrouting priority 100; policy accept;", ...nodes, ...hidden, "  }"];
}
