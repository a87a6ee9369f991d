import type { AuditEvent, ControlPlane } from "@cloudwire/control-plane";
import { type Permission, PERMISSIONS } from "@cloudwire/controller/permissions";
import { rolesFor } from "@cloudwire/deploy/roles";
import { fetchPage } from "../../../support/secure-page.ts";

/** The controllers' user at the API server, as the manifests have it. */
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

/** Used only when another process has written a Node between a controller's look and its write. */
export const AFTER_CONFLICT = ["get nodes"];

/** `patch nodes/status`: every right of a table, once. */
export function declaredRights(permissions: readonly Permission[]): readonly string[] {
  return [...new Set(permissions.flatMap(({ resource, verbs }) => verbs.map((verb) => `${verb} ${resource}`)))];
}

/** Those that were made use of, in the same words. */
export function usedRights(events: readonly AuditEvent[]): readonly string[] {
  const words = events.flatMap(({ verb, resource, subresource }) =>
    resource === undefined ? [] : [`${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`],
  );
  return [...new Set(words)];
}

/** Comes to the secure port with a token and with a certificate, so that it asks the API server who that is and what they may. */
export async function visit(controlPlane: ControlPlane, port: number): Promise<void> {
  await fetchPage(port, "/metrics", { token: "none-of-this-cluster" });
  const { client } = await controlPlane.kubeconfigFor("stranger");
  await fetchPage(port, "/metrics", { certificate: client.certificate, key: client.key });
}
