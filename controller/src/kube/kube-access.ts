import type { ApiAccess } from "./connection/access.ts";
import { kubeconfigAccess } from "./connection/kubeconfig.ts";
import { inClusterAccess } from "./connection/in-cluster.ts";
import type { Options } from "../app/options.ts";
import type { Clock } from "../util/clock.ts";

export interface KubeAccessDependencies {
  readonly options: Pick<Options, "kubeconfig" | "master">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** The API server that the settings name. Rejects with AccessError: nothing to wait for, an operator must act. */
export function kubeAccess({ options, environment, clock }: KubeAccessDependencies): Promise<ApiAccess> {
  const { kubeconfig, master } = options;
  if (kubeconfig !== "")
    return kubeconfigAccess({ path: kubeconfig, clock, ...(master === "" ? {} : { server: master }) });
  return master === "" ? inClusterAccess({ environment, clock }) : Promise.resolve(bareAccess(master));
}

/** Without credentials, as `kubectl proxy` is reached. */
function bareAccess(server: string): ApiAccess {
  return {
    server,
    description: `--master ${server}, without credentials`,
    proxyUrl: undefined,
    credentials: async () => ({ headers: {}, tls: {} }),
  };
}
