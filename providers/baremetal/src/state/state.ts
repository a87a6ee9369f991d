import { type Static, Type } from "typebox";
import { type Checked, checked } from "../util/checked.ts";

const text = Type.String();
const optionalText = Type.Optional(Type.String());
const port = Type.Integer({ minimum: 1, maximum: 65_535 });
const strict = { additionalProperties: false };

const clusterSchema = Type.Object({ id: text, name: optionalText }, strict);

const targetSchema = Type.Object({ name: text, addresses: Type.Array(text) }, strict);

const portSchema = Type.Object(
  { protocol: Type.Union([Type.Literal("TCP"), Type.Literal("UDP")]), port, nodePort: port },
  strict,
);

const loadBalancerSchema = Type.Object(
  {
    key: text,
    cluster: clusterSchema,
    service: Type.Object({ namespace: text, name: text, uid: text }, strict),
    forwarder: Type.Union([Type.Literal("haproxy"), Type.Literal("nftables")]),
    addresses: Type.Array(Type.Object({ address: text, pool: text }, strict)),
    ports: Type.Array(portSchema),
    targets: Type.Array(targetSchema),
    sourceRanges: Type.Array(text),
    healthCheck: Type.Optional(Type.Object({ port, path: optionalText }, strict)),
    hasAffinity: Type.Boolean(),
    hidesClients: Type.Boolean(),
    sendsProxyHeader: Type.Boolean(),
    isProtected: Type.Boolean(),
    tags: Type.Record(Type.String(), Type.String()),
    specFingerprint: text,
    nodesFingerprint: text,
    /** Its parts are being taken away; it is forgotten when they are. */
    isDeleting: Type.Boolean(),
    /** Revision of the state in which it changed last. */
    revision: Type.Integer({ minimum: 0 }),
  },
  strict,
);

const routeSchema = Type.Object(
  {
    cluster: clusterSchema,
    destination: text,
    targetId: text,
    targetNodeName: optionalText,
    gateway: text,
    /** It is being taken out of the kernel; it is forgotten when it is. */
    isDeleting: Type.Boolean(),
  },
  strict,
);

/** An address of ours on an interface; written down before it is put there. */
const placementSchema = Type.Object({ address: text, interface: text }, strict);

const stateSchema = Type.Object(
  {
    version: Type.Literal(1),
    revision: Type.Integer({ minimum: 0 }),
    loadBalancers: Type.Array(loadBalancerSchema),
    routes: Type.Array(routeSchema),
    placements: Type.Array(placementSchema),
  },
  strict,
);

/** A desired load balancer. */
export type LoadBalancerRecord = Static<typeof loadBalancerSchema>;
export type PortRecord = Static<typeof portSchema>;
export type Target = Static<typeof targetSchema>;
export type RouteRecord = Static<typeof routeSchema>;
export type Placement = Static<typeof placementSchema>;
/** The persistent state: what the provider has created, and for which Service. */
export type State = Static<typeof stateSchema>;

export const emptyState: State = { version: 1, revision: 0, loadBalancers: [], routes: [], placements: [] };

/** Reads the state file's text. */
export function parseState(json: string): Checked<State> {
  try {
    return checked(stateSchema, JSON.parse(json));
  } catch (error) {
    return {
      kind: "problems",
      problems: [`is not valid JSON: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
}

/** The state with this load balancer in the place of the one with its key, at a new revision. */
export function withLoadBalancer(state: State, record: Omit<LoadBalancerRecord, "revision">): State {
  const revision = state.revision + 1;
  const others = state.loadBalancers.filter(({ key }) => key !== record.key);
  return { ...state, revision, loadBalancers: [...others, { ...record, revision }] };
}

export function withoutLoadBalancer(state: State, key: string): State {
  return { ...state, loadBalancers: state.loadBalancers.filter((record) => record.key !== key) };
}

/** The state with these routes in the places of those to the same ranges. */
export function withRoutes(state: State, routes: readonly RouteRecord[]): State {
  const changed = new Map(routes.map((route) => [route.destination, route]));
  return {
    ...state,
    routes: [...state.routes.filter(({ destination }) => !changed.has(destination)), ...changed.values()],
  };
}

export function withoutRoutes(state: State, destinations: ReadonlySet<string>): State {
  return { ...state, routes: state.routes.filter(({ destination }) => !destinations.has(destination)) };
}
