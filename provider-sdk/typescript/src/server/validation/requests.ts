import { isIP } from "node:net";
import type { RouteCapabilities } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { toWireIpFamily } from "../convert/common.ts";
import { isCidr } from "@cloudwire/proto/formats";
import { parseCidr } from "../../addresses/ip.ts";
import type { Violation } from "./violation.ts";

/** The bounds of a batch; `capability` names what declares them. */
export const checkBatch = (field: string, items: readonly unknown[], maxBatchSize: number): readonly Violation[] => {
  if (items.length === 0) return [{ reason: "BATCH_EMPTY", field, description: "is empty" }];
  if (items.length <= maxBatchSize) return [];
  const description = `has ${items.length} items; at most ${maxBatchSize} are served at once`;
  return [{ reason: "BATCH_TOO_LARGE", field, description, metadata: { limit: String(maxBatchSize) } }];
};

/** The requested page size: 0 or more; large values are reduced later. */
export const checkPage = (request: { readonly pageSize: number }): readonly Violation[] =>
  request.pageSize < 0
    ? [
        {
          reason: "PAGE_SIZE_INVALID",
          field: "page_size",
          description: `is ${request.pageSize}; it must not be negative`,
        },
      ]
    : [];

/** What opens a watch: continuing after a token and beginning with everything exclude each other. */
export const checkWatch = (request: {
  readonly resumeToken: string;
  readonly sendInitialEvents: boolean;
}): readonly Violation[] =>
  request.resumeToken !== "" && request.sendInitialEvents
    ? [{ reason: "FIELD_INVALID", field: "send_initial_events", description: "is not possible with resume_token" }]
    : [];

/** Checks of routes to create, beyond the rules of their fields. */
export const checkEnsuredRoutes = (routes: readonly Route[], claimed: RouteCapabilities): readonly Violation[] => [
  ...checkBatch("routes", routes, claimed.maxBatchSize),
  ...routes.flatMap((route, index) => [
    ...checkTarget(route, `routes[${index}]`),
    ...checkDestination(route, `routes[${index}]`, claimed),
  ]),
];

/** Checks of routes to delete: a route without an instance has no target. */
export const checkDeletedRoutes = (routes: readonly Route[], claimed: RouteCapabilities): readonly Violation[] => [
  ...checkBatch("routes", routes, claimed.maxBatchSize),
  ...routes.flatMap((route, index) => checkDestination(route, `routes[${index}]`, claimed)),
];

const checkTarget = ({ targetProviderId }: Route, path: string): readonly Violation[] =>
  targetProviderId === ""
    ? [{ reason: "FIELD_MISSING", field: `${path}.target_provider_id`, description: "is required" }]
    : [];

const checkDestination = (route: Route, path: string, claimed: RouteCapabilities): readonly Violation[] => {
  const out: Violation[] = [];
  const field = `${path}.destination_cidr`;
  if (!isCidr(route.destinationCidr)) return out;
  const family = parseCidr(route.destinationCidr)?.family === 6 ? "IPv6" : "IPv4";
  if (!claimed.ipFamilies.includes(toWireIpFamily(family)))
    out.push({ reason: "FIELD_INVALID", field, description: `is ${family}, which this provider does not route` });
  else if (!isNetwork(route.destinationCidr))
    out.push({ reason: "FIELD_INVALID", field, description: `is ${route.destinationCidr}, which has host bits` });
  return out;
};

/** True for a range without host bits. */
export const isNetwork = (cidr: string): boolean => {
  const [address = "", length = ""] = cidr.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  const hostBits = BigInt(bits - Number(length));
  return (toNumber(address) & ((1n << hostBits) - 1n)) === 0n;
};

const toNumber = (address: string): bigint => {
  if (isIP(address) === 4) return address.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  // The URL parser knows every spelling of IPv6, dotted tails included, and writes the canonical one.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...middle, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
};
