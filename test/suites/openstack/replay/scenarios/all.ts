import type { Scenario } from "../stage.ts";
import { floatingIps } from "./floating-ips.ts";
import { instances } from "./instances.ts";
import { loadBalancer, settings } from "./load-balancer.ts";
import { refusals } from "./refusals.ts";
import { routes } from "./routes.ts";
import { volumes } from "./volumes.ts";

/** Whatever the provider asks of OpenStack is asked in one of them. */
export const scenarios: readonly Scenario[] = [
  instances,
  volumes,
  routes,
  loadBalancer,
  settings,
  floatingIps,
  refusals,
];
