import { renderChart } from "@cloudwire/deploy/chart";
import { expect, test } from "vitest";

const PROVIDERS = [{ name: "acme" }];
const STATIC = { kind: "StaticPod", kubeconfig: { hostPath: "/etc/kubernetes/ccm.conf" } };

/** Values with one mistake each, and the error that reports it. */
test.each<[string, object, string]>([
  [
    "a kind that there is not",
    { kind: "Deploymnt" },
    "at '/kind': value must be one of 'Deployment', 'DaemonSet', 'StaticPod'",
  ],
  ["a value that there is not", { provider: [] }, "at '': additional properties 'provider' not allowed"],
  ["a field that there is not", { image: { tags: "1" } }, "at '/image': additional properties 'tags' not allowed"],
  [
    "a field of a provider that there is not",
    { providers: [{ name: "acme", arg: [] }] },
    "at '/providers/0': additional properties 'arg' not allowed",
  ],
  ["a provider without name", { providers: [{ args: [] }] }, "at '/providers/0': missing property 'name'"],
  [
    "a provider that is called what no container can be",
    { providers: [{ name: "Acme" }] },
    "at '/providers/0/name': 'Acme' does not match pattern",
  ],
  [
    "a provider that is called as the controller's container",
    { providers: [{ name: "controller" }] },
    "at '/providers/0/name': 'not' failed",
  ],
  [
    "a setting that there is not",
    { config: { Generic: { LeaderElection: { LeaseDurtion: "15s" } } } },
    "at '/config/Generic/LeaderElection': additional properties 'LeaseDurtion' not allowed",
  ],
  [
    "a setting of another type",
    { config: { NodeStatusUpdateFrequency: 5 } },
    "at '/config/NodeStatusUpdateFrequency': got number, want string",
  ],
  [
    "a misspelled toleration",
    { tolerations: [{ key: "a", effects: "NoSchedule" }] },
    "at '/tolerations/0': additional properties 'effects' not allowed",
  ],
  [
    "a misspelled security context",
    { securityContext: { readOnlyRootFileSystem: true } },
    "at '/securityContext': additional properties 'readOnlyRootFileSystem' not allowed",
  ],
  [
    "a misspelled mount",
    { volumeMounts: [{ name: "a", mountpath: "/a" }] },
    "at '/volumeMounts/0': missing property 'mountPath'",
  ],
  ["no provider", { providers: [] }, "providers: is empty; add at least one"],
  [
    "two providers of one name",
    { providers: [{ name: "acme" }, { name: "acme" }] },
    "providers[1].name: acme is also the name of another provider",
  ],
  [
    "two providers at one port",
    {
      providers: [
        { name: "a", httpPort: 9102 },
        { name: "b", httpPort: 9102 },
      ],
    },
    "providers[1].httpPort: 9102 is also the port of another provider",
  ],
  [
    "replicas that would work at once",
    { config: { Generic: { LeaderElection: { LeaderElect: false } } } },
    "config.Generic.LeaderElection.LeaderElect: is false, but all replicas of a Deployment would then be active",
  ],
  [
    "a webhook for no volume",
    { webhook: { enabled: true } },
    "webhook.csiDrivers and webhook.inTreePlugins: are both empty",
  ],
  [
    "a static pod without kubeconfig",
    { kind: "StaticPod" },
    "kubeconfig.hostPath: is empty, but a static pod has no service account",
  ],
  [
    "a static pod with a Secret",
    { ...STATIC, providers: [{ name: "acme", secrets: [{ name: "key", mountPath: "/key" }] }] },
    "providers[0].secrets: is an API object, which a static pod cannot read",
  ],
  [
    "a static pod with files",
    { ...STATIC, providers: [{ name: "acme", files: { "a.yaml": "" } }] },
    "providers[0].files: is an API object",
  ],
  [
    "a static pod with the webhook",
    { ...STATIC, webhook: { enabled: true, inTreePlugins: ["cinder"] } },
    "webhook.enabled: a static pod cannot read the Secret",
  ],
])("Helm refuses %s", async (_name, values, message) => {
  await expect(renderChart({ values: { providers: PROVIDERS, ...values } })).rejects.toThrow(message);
});
