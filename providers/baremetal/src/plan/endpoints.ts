import type { LoadBalancerRecord, PortRecord } from "../state/state.ts";
import { familyOf } from "@cloudwire/provider-sdk/addresses";

/** One address and port that is forwarded, and to where. */
export interface Listener {
  readonly loadBalancer: LoadBalancerRecord;
  /** Its own among all listeners: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly address: string;
  readonly family: 4 | 6;
  readonly port: PortRecord;
  readonly backends: readonly Backend[];
}

/** A port of a node. */
export interface Backend {
  /** Name of the Node. */
  readonly node: string;
  readonly address: string;
  readonly port: number;
  /** Asked for its health; undefined: nothing can be asked, as of UDP alone. */
  readonly checkPort: number | undefined;
  /** HTTP path that answers 200; undefined: a connection is enough. */
  readonly checkPath: string | undefined;
}

/** The listeners of a forwarder, one for each address and port of its load balancers, in a deterministic order. */
export function listenersOf(
  records: readonly LoadBalancerRecord[],
  forwarder: LoadBalancerRecord["forwarder"],
): readonly Listener[] {
  return records
    .filter((record) => !record.isDeleting && record.forwarder === forwarder)
    .toSorted((left, right) => (left.key < right.key ? -1 : 1))
    .flatMap((loadBalancer) =>
      loadBalancer.addresses.flatMap(({ address }) =>
        loadBalancer.ports
          .toSorted((left, right) => left.port - right.port || left.protocol.localeCompare(right.protocol))
          .map((port) => toListener(loadBalancer, address, port)),
      ),
    );
}

function toListener(loadBalancer: LoadBalancerRecord, address: string, port: PortRecord): Listener {
  const family = familyOf(address) ?? 4;
  const { key, forwarder, healthCheck, ports } = loadBalancer;
  const tcp = port.protocol === "TCP" ? port : ports.find(({ protocol }) => protocol === "TCP");
  const backends = loadBalancer.targets
    .flatMap((target): Backend[] => {
      const own = target.addresses.find((one) => familyOf(one) === family);
      // A proxy may cross families, packets cannot.
      const to = own ?? (forwarder === "haproxy" ? target.addresses[0] : undefined);
      if (to === undefined) return [];
      const check = { checkPort: healthCheck?.port ?? tcp?.nodePort, checkPath: healthCheck?.path };
      return [{ node: target.name, address: to, port: port.nodePort, ...check }];
    })
    .toSorted((left, right) => (left.node < right.node ? -1 : 1));
  return {
    loadBalancer,
    name: `${key}-${family}-${port.protocol.toLowerCase()}-${port.port}`,
    address,
    family,
    port,
    backends,
  };
}
