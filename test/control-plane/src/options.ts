import type { AuditOptions } from "./audit.ts";

export interface ControlPlaneOptions {
  /** Minor of Kubernetes, a key of versions.json. Default: the default one of that file. */
  readonly minor?: string;
  /** Runs kube-scheduler: pods need it to get to a node. Default: no. */
  readonly scheduler?: boolean;
  /** Runs kube-controller-manager with --cloud-provider=external. Default: no. */
  readonly controllerManager?: boolean | ControllerManagerOptions;
  /** Records requests; read them with auditEvents(). Default: no. */
  readonly audit?: AuditOptions;
  /**
   * Turns the ServiceAccount admission plugin on: pods get tokens, and need the service account "default" in their
   * namespace, which kube-controller-manager makes; so it needs controllerManager. Default: no.
   */
  readonly serviceAccountTokens?: boolean;
  /** One CIDR, or two of different families. Default: 10.96.0.0/16. */
  readonly serviceCidrs?: readonly string[];
  /** Appended to the command line of kube-apiserver. */
  readonly apiServerArgs?: readonly string[];
  /** Bound for each program to become ready. Default: 60,000. */
  readonly startTimeoutMs?: number;
  /** Where the directory with the files of this control plane is made. Default: the system's temporary directory. */
  readonly tmpDir?: string;
  /** Gives up starting. A control plane that runs already is not affected: use stop(). */
  readonly signal?: AbortSignal;
  /** Gets the lines of a build. Default: standard error. */
  readonly onProgress?: (line: string) => void;
}

export interface ControllerManagerOptions {
  /**
   * The value of --controllers: "*" for those that are on by default, "name" to turn on, "-name" to turn off. Default: ["*"].
   * Names: "node-lifecycle-controller" (marks nodes whose kubelet is silent, lifts the taint not-ready),
   * "taint-eviction-controller", "node-ipam-controller" (needs podCidrs), "deployment-controller", …
   */
  readonly controllers?: readonly string[];
  /** Lets node-ipam-controller give each node a part of these. Default: no node gets one. */
  readonly podCidrs?: readonly string[];
  /** Appended to the command line, for example --node-monitor-grace-period=4s. */
  readonly args?: readonly string[];
}

export interface HollowNodeOptions {
  /** "external" (default): the Node waits for a cloud controller, with the taint uninitialized. "": it does not. */
  readonly cloudProvider?: "external" | "";
  /** Sets spec.providerID at registration. Default: none, so that the cloud controller has to find it. */
  readonly providerId?: string;
  /** The kubelet's --node-ip; it accepts only addresses of this machine, and not loopback. */
  readonly nodeIp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Default: 110. */
  readonly maxPods?: number;
  /** "bootstrap": asks for a serving certificate with a CertificateSigningRequest once it has an address. Default: none. */
  readonly servingCertificate?: "bootstrap";
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

const nodeLifecycle = ["node-lifecycle-controller", "nodelifecycle"];

/** The options of kube-controller-manager, or undefined when it does not run. */
export function controllerManagerOptions(options: ControlPlaneOptions): ControllerManagerOptions | undefined {
  const { controllerManager } = options;
  if (controllerManager === true) return {};
  return controllerManager === false ? undefined : controllerManager;
}

/** Whether someone lifts the taint node.kubernetes.io/not-ready from a Node that became ready. */
export function runsNodeLifecycle(options: ControllerManagerOptions | undefined): boolean {
  if (options === undefined) return false;
  const { controllers = ["*"] } = options;
  if (nodeLifecycle.some((name) => controllers.includes(`-${name}`))) return false;
  return controllers.includes("*") || nodeLifecycle.some((name) => controllers.includes(name));
}
