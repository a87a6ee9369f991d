import type { ControlPlane } from "@cloudwire/control-plane";
import { PERMISSIONS } from "@cloudwire/controller/permissions";
import { rolesFor } from "@cloudwire/deploy/roles";

/** As whom controllers come to the API server, as the manifests have it. */
export const CONTROLLER_USER = "system:serviceaccount:kube-system:cloud-controller-manager";

const granted = new WeakMap<ControlPlane, Promise<string>>();

/** A kubeconfig with the rights that the manifests grant, those of controllers that are off by default included, and no other. */
export function controllerKubeconfig(controlPlane: ControlPlane): Promise<string> {
  const known = granted.get(controlPlane);
  if (known !== undefined) return known;
  const making = grant(controlPlane);
  granted.set(controlPlane, making);
  return making;
}

async function grant(controlPlane: ControlPlane): Promise<string> {
  const items = rolesFor(PERMISSIONS, () => true, { kind: "User", name: CONTROLLER_USER });
  await controlPlane.kubectl(["apply", "-f", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  });
  return (await controlPlane.kubeconfigFor(CONTROLLER_USER)).path;
}
