// Users depend on these names in --controllers and RBAC: none is changed. cloud-provider/names/controller_names.go v0.36.3.
export const CLOUD_NODE_CONTROLLER = "cloud-node-controller";
export const CLOUD_NODE_LIFECYCLE_CONTROLLER = "cloud-node-lifecycle-controller";
export const SERVICE_LB_CONTROLLER = "service-lb-controller";
export const NODE_ROUTE_CONTROLLER = "node-route-controller";
// kubernetes/cmd/kube-controller-manager/names v1.36.3.
export const NODE_IPAM_CONTROLLER = "node-ipam-controller";
// Ours; upstream had one of that name until v1.13, for initializers (kubernetes/kubernetes PR 74615).
export const PERSISTENT_VOLUME_LABEL_CONTROLLER = "persistent-volume-label-controller";
// Ours: upstream has no approver of kubelet serving certificates.
export const KUBELET_SERVING_CSR_APPROVER = "kubelet-serving-csr-approver";

/** Upstream's old short names, for --controllers and the `name` label of running_managed_controllers. */
export const CONTROLLER_ALIASES: Readonly<Record<string, string>> = {
  "cloud-node": CLOUD_NODE_CONTROLLER,
  "cloud-node-lifecycle": CLOUD_NODE_LIFECYCLE_CONTROLLER,
  service: SERVICE_LB_CONTROLLER,
  route: NODE_ROUTE_CONTROLLER,
  nodeipam: NODE_IPAM_CONTROLLER,
  "persistent-volume-label": PERSISTENT_VOLUME_LABEL_CONTROLLER,
};

/** Not included in `*` of --controllers. */
export const OFF_BY_DEFAULT: ReadonlySet<string> = new Set([
  NODE_IPAM_CONTROLLER,
  PERSISTENT_VOLUME_LABEL_CONTROLLER,
  KUBELET_SERVING_CSR_APPROVER,
]);

/** `manager` label of running_managed_controllers, default Lease name, event source of leader election. */
export const CLOUD_CONTROLLER_MANAGER = "cloud-controller-manager";

/** Event sources (`source.component`), from the constructors in cloud-provider v0.36.3. */
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
 * Whether `--controllers` enables a controller. The first item for a name takes precedence, and `*` stands for all that are enabled by
 * default. controller-manager/app/controller_context.go IsControllerEnabled v0.36.3.
 */
export function isControllerEnabled(
  name: string,
  controllers: readonly string[],
  offByDefault: ReadonlySet<string> = OFF_BY_DEFAULT,
  aliases: Readonly<Record<string, string>> = CONTROLLER_ALIASES,
): boolean {
  for (const item of controllers) {
    const isOff = item.startsWith("-");
    const plain = isOff ? item.slice(1) : item;
    if ((aliases[plain] ?? plain) === name) return !isOff;
  }
  return controllers.includes("*") && !offByDefault.has(name);
}
