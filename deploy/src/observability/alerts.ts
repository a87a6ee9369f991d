import type { Alert, AlertGroup } from "./alert.ts";
import { AVAILABILITY } from "./alerts/availability.ts";
import { LOAD_BALANCERS, NODES } from "./alerts/objects.ts";
import { PROCESS } from "./alerts/process.ts";
import { PROVIDERS } from "./alerts/providers.ts";

/** Every alert, in the order of the reference page. */
export const ALERT_GROUPS: readonly AlertGroup[] = [AVAILABILITY, PROVIDERS, NODES, LOAD_BALANCERS, PROCESS];

export const ALERTS: readonly Alert[] = ALERT_GROUPS.flatMap(({ alerts }) => alerts);
