import type { NodeAddress } from "@cloudwire/provider-sdk";
import type { LibvirtHost } from "../config/config.ts";
import { type AddressRange, canonicalAddress, contains, familyOf } from "@cloudwire/provider-sdk/addresses";
import { nodeNamePattern } from "../util/kubernetes.ts";
import type { Machine } from "./machine.ts";

/** A domain as `virsh list` names it. */
export interface Domain {
  readonly uuid: string;
  readonly name: string;
}

/** Further data that `virsh` returns for a domain. */
export interface DomainFacts {
  /** In virsh's words: `running`, `paused`, `shut off`. */
  readonly state: string;
  /** In brackets behind the state: `user`, `destroyed`. */
  readonly reason: string;
  readonly addresses: readonly string[];
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads `virsh --quiet list --all --uuid --name`. undefined: another output. */
export function parseDomains(text: string): readonly Domain[] | undefined {
  const lines = linesOf(text);
  const domains = lines.flatMap((line) => {
    const [, uuid = "", name = ""] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    return uuidPattern.test(uuid) ? { uuid, name } : [];
  });
  return domains.length === lines.length ? domains : undefined;
}

/** The commands whose output {@link parseFacts} reads. */
export function factCommands(domains: readonly Domain[], source: "lease" | "agent" | "arp"): string {
  return domains
    .map(({ uuid }) => `echo '${uuid} '; domstate ${uuid} --reason; domifaddr ${uuid} --source ${source}`)
    .join("; ");
}

/**
 * Reads what {@link factCommands} print, by UUID: the UUID and the state, on one line or two, and a line for each address. Of a domain that went
 * meanwhile there is the UUID alone.
 */
export function parseFacts(text: string): ReadonlyMap<string, DomainFacts> {
  const facts = new Map<string, DomainFacts>();
  let uuid = "";
  for (const line of linesOf(text)) {
    const words = line.split(/\s+/);
    const uuids = words.filter((word) => uuidPattern.test(word));
    uuid = uuids.at(-1) ?? uuid;
    const rest = line.slice(uuids.length === 0 ? 0 : line.lastIndexOf(uuid) + uuid.length).trim();
    if (rest === "") continue;
    const known = facts.get(uuid);
    if (known === undefined) {
      const [, state = rest, reason = ""] = /^(.*?) \((.*)\)$/.exec(rest) ?? [];
      facts.set(uuid, { state, reason, addresses: [] });
    } else {
      const [, address] = /\sipv[46]\s+([0-9a-fA-F.:]+)\/\d+$/.exec(line) ?? [];
      if (address !== undefined) facts.set(uuid, { ...known, addresses: [...known.addresses, address] });
    }
  }
  return facts;
}

/** The machine that a domain is. */
export function toMachine(
  { uuid, name: domainName }: Domain,
  { state, reason, addresses }: DomainFacts,
  { type, zone, region }: Pick<LibvirtHost, "type" | "zone" | "region">,
  networks: readonly AddressRange[],
): Machine {
  const name = nodeNamePattern.test(domainName) ? domainName : uuid;
  const internal = addresses.flatMap((text): NodeAddress | [] => {
    const address = canonicalAddress(text);
    const isWanted = address !== undefined && isNodeAddress(address, networks);
    return isWanted ? { type: "InternalIP", address } : [];
  });
  const known = states.get(state);
  return {
    id: uuid,
    name,
    type,
    zone,
    region,
    addresses: [...new Map(internal.map((one) => [one.address, one])).values(), { type: "Hostname", address: name }],
    state: known,
    stateReason: state === "running" ? undefined : [state, reason].filter((word) => word !== "").join(": "),
    labels: {},
    podCidrs: undefined,
  };
}

/** A paused domain keeps its memory and disks and can resume; a stopped one can be started again. */
const states: ReadonlyMap<string, Machine["state"]> = new Map([
  ["running", "RUNNING"],
  ["idle", "RUNNING"],
  ["paused", "RUNNING"],
  ["pmsuspended", "RUNNING"],
  ["in shutdown", "STOPPING"],
  ["shut off", "STOPPED"],
  ["crashed", "STOPPED"],
]);

/** Link-local addresses and those of the machine to itself lead nowhere. */
function isNodeAddress(address: string, networks: readonly AddressRange[]): boolean {
  if (networks.length > 0) return networks.some((network) => contains(network, address));
  return familyOf(address) === 4 ? !/^(127|169\.254)\./.test(address) : !/^(::1$|fe[89ab])/.test(address);
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : line.trimEnd()));
}
