import { CONTROLLER_DASHBOARD } from "./dashboards/controller-dashboard.ts";
import type { Dashboard } from "./dashboards/dashboard.ts";
import { PROVIDER_DASHBOARD } from "./dashboards/provider-dashboard.ts";

export const DASHBOARDS: readonly Dashboard[] = [CONTROLLER_DASHBOARD, PROVIDER_DASHBOARD];
