import path from "node:path";
import {
  type ControlPlaneOptions,
  type ControllerManagerOptions,
  controllerManagerOptions,
  runsNodeLifecycle,
} from "../options.ts";

/** Where the files of one control plane are. */
export interface Layout {
  readonly dir: string;
  readonly etcdData: string;
  readonly logs: string;
  /** TMPDIR of the programs. */
  readonly scratch: string;
  /** A directory for each hollow kubelet. */
  readonly nodes: string;
  readonly kubeconfigs: string;
  readonly pki: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
}

export function layoutIn(dir: string): Layout {
  return {
    dir,
    etcdData: path.join(dir, "etcd"),
    logs: path.join(dir, "logs"),
    scratch: path.join(dir, "tmp"),
    nodes: path.join(dir, "nodes"),
    kubeconfigs: path.join(dir, "kubeconfigs"),
    pki: path.join(dir, "pki"),
    auditPolicy: path.join(dir, "audit-policy.json"),
    auditLog: path.join(dir, "logs", "audit.log"),
  };
}

/** Where etcd listens for clients. */
export function etcdSocket({ dir }: Layout): string {
  return path.join(dir, "localhost:2379");
}

// Unix sockets named so, relative to the working directory that etcd and kube-apiserver share: etcd wants the form
// host:port even there. No port that another process could take, and no one else can reach it.
const etcdClients = "unix://localhost:2379";
const etcdPeers = "unix://localhost:2380";

/** The address that kube-apiserver advertises to clients in the cluster, of which there are none (TEST-NET-1, RFC 5737). */
const advertisedAddress = "192.0.2.1";
const defaultServiceCidrs = ["10.96.0.0/16"];

export function etcdArgs(layout: Layout): readonly string[] {
  return [
    `--data-dir=${layout.etcdData}`,
    // The data dies with the test: waiting for the disk has no use.
    "--unsafe-no-fsync",
    `--listen-client-urls=${etcdClients}`,
    `--advertise-client-urls=${etcdClients}`,
    `--listen-peer-urls=${etcdPeers}`,
    `--initial-advertise-peer-urls=${etcdPeers}`,
    `--initial-cluster=default=${etcdPeers}`,
  ];
}

export function apiServerArgs(layout: Layout, port: number, options: ControlPlaneOptions): readonly string[] {
  const pki = (file: string) => path.join(layout.pki, file);
  return [
    `--etcd-servers=${etcdClients}`,
    "--bind-address=127.0.0.1",
    `--advertise-address=${advertisedAddress}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${pki("server.crt")}`,
    `--tls-private-key-file=${pki("server.key")}`,
    `--client-ca-file=${pki("ca.crt")}`,
    `--requestheader-client-ca-file=${pki("front-proxy-ca.crt")}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${pki("front-proxy-client.crt")}`,
    `--proxy-client-key-file=${pki("front-proxy-client.key")}`,
    // For logs, exec and forwarded ports of real kubelets, where a test runs one; names of Nodes lead nowhere here.
    `--kubelet-client-certificate=${pki("kubelet-client.crt")}`,
    `--kubelet-client-key=${pki("kubelet-client.key")}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--authorization-mode=Node,RBAC",
    `--service-cluster-ip-range=${(options.serviceCidrs ?? defaultServiceCidrs).join(",")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${pki("service-account.crt")}`,
    `--service-account-signing-key-file=${pki("service-account.key")}`,
    "--enable-admission-plugins=NodeRestriction",
    ...admissionArgs(options),
    ...auditArgs(layout, options),
    ...(options.apiServerArgs ?? []),
  ];
}

function admissionArgs(options: ControlPlaneOptions): readonly string[] {
  const disabled = [
    ...(options.serviceAccountTokens === true ? [] : ["ServiceAccount"]),
    // It adds the taint not-ready to each new Node, which no one would lift.
    ...(runsNodeLifecycle(controllerManagerOptions(options)) ? [] : ["TaintNodesByCondition"]),
  ];
  return disabled.length === 0 ? [] : [`--disable-admission-plugins=${disabled.join(",")}`];
}

function auditArgs(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  if (options.audit === undefined) return [];
  return [`--audit-policy-file=${layout.auditPolicy}`, `--audit-log-path=${layout.auditLog}`];
}

export function schedulerArgs(layout: Layout, port: number): readonly string[] {
  return clientArgs(layout, "kube-scheduler", port);
}

export function controllerManagerArgs(
  layout: Layout,
  port: number,
  options: ControllerManagerOptions,
): readonly string[] {
  const pki = (file: string) => path.join(layout.pki, file);
  const { controllers = ["*"], podCidrs = [], args = [] } = options;
  return [
    ...clientArgs(layout, "kube-controller-manager", port),
    "--cloud-provider=external",
    `--controllers=${controllers.join(",")}`,
    // The default (20, 30) makes it take 5 s to get credentials for each controller.
    "--kube-api-qps=200",
    "--kube-api-burst=400",
    // Each controller with the rights of its own role, as in real clusters.
    "--use-service-account-credentials",
    `--service-account-private-key-file=${pki("service-account.key")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    ...(podCidrs.length === 0 ? [] : ["--allocate-node-cidrs", `--cluster-cidr=${podCidrs.join(",")}`]),
    ...args,
  ];
}

function clientArgs(layout: Layout, component: string, port: number): readonly string[] {
  const kubeconfig = path.join(layout.kubeconfigs, `${component}.kubeconfig`);
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--tls-cert-file=${path.join(layout.pki, "server.crt")}`,
    `--tls-private-key-file=${path.join(layout.pki, "server.key")}`,
  ];
}
