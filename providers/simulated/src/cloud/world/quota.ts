import type { Settings } from "../../api/admin.ts";
import type { ResourceKind } from "../../api/events.ts";
import { CloudError } from "../errors.ts";
import type { World } from "./world.ts";

type Quota = keyof Settings["quotas"];

const kindOf: Record<Quota, ResourceKind> = {
  instances: "instance",
  loadBalancers: "loadBalancer",
  routes: "route",
  volumes: "volume",
};

/** Throws if the account may not have that many more. Terminated instances do not count. */
export const checkQuota = (world: World, account: string, quota: Quota, more: number): void => {
  const limit = world.settings().quotas[quota];
  const have = world.store.count(kindOf[quota], account, "terminated");
  if (have + more <= limit) return;
  throw new CloudError(
    "QuotaExceeded",
    `account ${account} has ${have} of ${limit} ${quota}: ${more} more are not allowed`,
  );
};
