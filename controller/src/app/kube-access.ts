import type { ApiAccess } from "../kube/access.ts";
import { kubeconfigAccess } from "../kube/config.ts";
import { inClusterAccess } from "../kube/in-cluster.ts";
import type { Options } from "../options/options.ts";
import type { Clock } from "../util/clock.ts";

export interface KubeAccessDependencies {
  readonly options: Pick<Options, "kubeconfig">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** The API server that the settings name. Rejects with AccessError: nothing to wait for, an operator must act. */
export function kubeAccess({ options, environment, clock }: KubeAccessDependencies): Promise<ApiAccess> {
  return options.kubeconfig === ""
    ? inClusterAccess({ environment, clock })
    : kubeconfigAccess({ path: options.kubeconfig, clock });
}
