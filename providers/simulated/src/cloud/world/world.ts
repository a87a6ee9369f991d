import type { Cidr } from "@cloudwire/provider-sdk/addresses";
import type { Settings } from "../../api/admin.ts";
import type { Clock } from "../clock.ts";
import type { Forwarder } from "../forwarding/forwarder.ts";
import type { Geography } from "../geography.ts";
import type { Database } from "../store/database.ts";
import type { ResourceStore } from "../store/resource-store.ts";

/** Networks the cloud gives addresses out of. */
export interface Networks {
  /** Internal addresses of instances; within 127.0.0.0/8, so that "nodes" on this machine can listen on them. */
  readonly instances: Cidr;
  /** Addresses of load balancers; within 127.0.0.0/8. */
  readonly loadBalancers: Cidr;
}

/** What every part of the cloud works on. */
export interface World {
  readonly database: Database;
  readonly store: ResourceStore;
  readonly clock: Clock;
  readonly settings: () => Settings;
  readonly geography: Geography;
  readonly networks: Networks;
  readonly forwarder: Forwarder;
  readonly listenPortOffset: number;
}

export const timestamp = (timeMs: number): string => new Date(timeMs).toISOString();
