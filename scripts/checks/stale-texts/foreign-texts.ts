/** Texts (or parts of them) that suites expect and that no source here contains, with the reason. */
export const FOREIGN_TEXTS: Readonly<Record<string, string>> = {
  "label names should be written in 'snake_case'": "promtool",
  "violates PodSecurity": "kube-apiserver: pod security admission",
  "built-in cloud providers are disabled": "kube-controller-manager",
  "attempting to acquire leader lease": "client-go: leader election",
  "can only create a node CSR with CN": "kube-apiserver: node restriction",
  "lost connection to pod": "kubectl port-forward",
  "Unable to connect to server control socket": "BIRD",
  "CN=system:node:victim-a": "a subject in a CertificateSigningRequest of the test",
  "runs as a Deployment in namespace kube-system": "the chart's NOTES.txt, composed in a template with conditions",
  "name copied has": "composed from the names of two Nodes",
  "[-]provider failed: provider acme": "composed from the name of a health check and its problem",
  "seen-a: patch nodes seen-a": "composed from a controller, a key and a request",
};
