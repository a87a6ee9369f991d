// Names are IDs that users put into --controllers and RBAC; never changed, aliases never removed.
// cloud-provider/names/controller_names.go v0.36.3.
export const CLOUD_NODE_CONTROLLER = "cloud-node-controller";
export const CLOUD_NODE_LIFECYCLE_CONTROLLER = "cloud-node-lifecycle-controller";
export const SERVICE_LB_CONTROLLER = "service-lb-controller";
export const NODE_ROUTE_CONTROLLER = "node-route-controller";
// Upstream's in kubernetes/cmd/kube-controller-manager/names v1.36.3; its cloud-controller-manager has it as an example.
export const NODE_IPAM_CONTROLLER = "node-ipam-controller";
// Ours; upstream had one of that name until v1.13, for initializers (kubernetes/kubernetes PR 74615).
export const PERSISTENT_VOLUME_LABEL_CONTROLLER = "persistent-volume-label-controller";
// Ours: upstream leaves kubelets' serving certificates to people.
export const KUBELET_SERVING_CSR_APPROVER = "kubelet-serving-csr-approver";

/** Old short names, still accepted by --controllers and still the `name` label of running_managed_controllers. */
export const CONTROLLER_ALIASES: Readonly<Record<string, string>> = {
  "cloud-node": CLOUD_NODE_CONTROLLER,
  "cloud-node-lifecycle": CLOUD_NODE_LIFECYCLE_CONTROLLER,
  service: SERVICE_LB_CONTROLLER,
  route: NODE_ROUTE_CONTROLLER,
  nodeipam: NODE_IPAM_CONTROLLER,
  "persistent-volume-label": PERSISTENT_VOLUME_LABEL_CONTROLLER,
};

/** What `*` of --controllers does not turn on. */
export const OFF_BY_DEFAULT: ReadonlySet<string> = new Set([
  NODE_IPAM_CONTROLLER,
  PERSISTENT_VOLUME_LABEL_CONTROLLER,
  KUBELET_SERVING_CSR_APPROVER,
]);

/** `manager` label of running_managed_controllers, default lease name, event source of leader election. */
export const CLOUD_CONTROLLER_MANAGER = "cloud-controller-manager";

/** Event sources (`source.component`), which differ from the controllers' names. Controllers' constructors, cloud-provider v0.36.3. */
export const EVENT_SOURCES = {
  cloudNode: "cloud-node-controller",
  cloudNodeLifecycle: "cloud-node-lifecycle-controller",
  service: "service-controller",
  route: "route_controller",
  nodeIpam: "cidrAllocator",
  persistentVolumeLabel: "persistent-volume-label-controller",
  kubeletServing: "kubelet-serving-csr-approver",
} as const;

/**
 * Which controllers `--controllers` turns on. The first mention of a name wins, `*` stands for all that are on by
 * default; aliases are resolved first (controller-manager/app/controller_context.go IsControllerEnabled v0.36.3).
 */
export function isControllerEnabled(
  name: string,
  wishes: readonly string[],
  offByDefault: ReadonlySet<string> = OFF_BY_DEFAULT,
  aliases: Readonly<Record<string, string>> = CONTROLLER_ALIASES,
): boolean {
  for (const wish of wishes) {
    const off = wish.startsWith("-");
    const plain = off ? wish.slice(1) : wish;
    if ((aliases[plain] ?? plain) === name) return !off;
  }
  return wishes.includes("*") && !offByDefault.has(name);
}
