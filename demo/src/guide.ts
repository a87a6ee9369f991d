import type { Paint } from "./paint.ts";

export interface GuideValues {
  readonly kubeconfig: string;
  /** The kubectl command to print. */
  readonly kubectl: string;
  /** http://address:port of the Service's load balancer. */
  readonly serviceUrl: string;
  readonly cloudUrl: string;
  readonly cloudKey: string;
  readonly zone: string;
  readonly nextNode: string;
  readonly providerPid: number;
  readonly statusPageUrl: string;
  readonly healthUrl: string;
  readonly logs: string;
}

/** Commands to try once the demo is ready. Each line except the URL of the page can be pasted into another terminal. */
export function guide(values: GuideValues, paint: Paint): string {
  const { kubectl, kubeconfig, serviceUrl, cloudUrl, cloudKey, zone, nextNode, providerPid, logs } = values;
  const node = JSON.stringify({ items: [{ name: nextNode, zone }] });
  const authorization = `-H 'Authorization: Bearer ${cloudKey}'`;
  const entries: readonly (readonly [string, ...string[]])[] = [
    ["Open the status page in a browser", values.statusPageUrl],
    [
      "Use kubectl",
      `export KUBECONFIG=${kubeconfig}`,
      `${kubectl} get nodes -o wide`,
      `${kubectl} describe service web`,
    ],
    ["Call the Service: the load balancer forwards to a node, which responds with its name", `curl ${serviceUrl}`],
    [
      "Create an instance in the cloud: its kubelet registers, and the controller initializes the Node",
      `curl -X POST ${cloudUrl}/v1/instances ${authorization} -H 'Content-Type: application/json' -d '${node}'`,
    ],
    ["Add a Service", `${kubectl} apply -f demo/shop.yaml`, `${kubectl} get services`],
    [
      "Kill the provider: the demo restarts it, and the controller then completes pending work",
      `kill -9 ${providerPid}`,
      `${kubectl} delete service web`,
    ],
    [
      "Read the controller's health, its metrics and all logs",
      `curl ${values.healthUrl}/readyz?verbose`,
      `curl ${values.healthUrl}/metrics`,
      `ls ${logs}`,
    ],
  ];
  return entries
    .map(([title, ...commands]) => [paint.bold(title), ...commands.map((command) => `    ${command}`)].join("\n"))
    .join("\n\n");
}
