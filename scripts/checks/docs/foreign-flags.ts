/** Flags of other programs that the guides name. A guide that needs another one adds it here, once it is certain that it exists. */
const FOREIGN: Readonly<Record<string, string>> = {
  kubectl:
    "all as clusterrole field-selector flatten for from-literal group list minify namespace non-resource-url overwrite raw replicas role serviceaccount tcp timeout verb",
  helm: "force-conflicts namespace set show-only take-ownership values",
  curl: "header insecure no-buffer retry retry-all-errors retry-connrefused retry-delay",
  kubeadm: "client-name config",
  etcdutl: "bump-revision mark-compacted",
  kubelet: "bootstrap-kubeconfig cloud-provider hostname-override node-ip provider-id",
  "kube-apiserver": "kubelet-certificate-authority",
  "kube-controller-manager": "cluster-signing-duration",
  "metrics-server": "kubelet-insecure-tls",
  skopeo: "all",
  node: "conditions enable-source-maps",
  "npm start": "once",
  "npm run upstream": "from to",
  vitest: "project",
  "create-provider, conformance and devcluster": "dir domain id-prefix kubeconfig-out language level port sdk",
  "the status page's measurements": "minutes",
  bench: "growth patience publish resume rounds runs",
};

export const flagsOfOthers: ReadonlySet<string> = new Set(
  Object.values(FOREIGN).flatMap((names) => names.split(" ").map((name) => `--${name}`)),
);
