import { instanceKind } from "./kinds.ts";
import type { ResourceStore } from "../store/resource-store.ts";

/** Where the ports of an instance are really found: its first internal address, as long as it runs. */
export const instanceAddresses =
  (store: ResourceStore) =>
  (account: string, instanceId: string): string | undefined => {
    const instance = store.get(instanceKind, account, instanceId);
    return instance?.state === "running" ? instance.internalAddresses[0] : undefined;
  };
