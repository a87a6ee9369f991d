import type { Paint } from "./paint.ts";

export interface GuideFacts {
  readonly kubeconfig: string;
  /** Only where a kubectl was found; the user's own otherwise. */
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

/** What to try once the demo is ready: each line but the page's can be pasted into another terminal as it stands. */
export function guide(facts: GuideFacts, paint: Paint): string {
  const { kubectl, kubeconfig, serviceUrl, cloudUrl, cloudKey, zone, nextNode, providerPid, logs } = facts;
  const node = JSON.stringify({ items: [{ name: nextNode, zone }] });
  const authorization = `-H 'Authorization: Bearer ${cloudKey}'`;
  const entries: readonly (readonly [string, ...string[]])[] = [
    ["Watch it in a browser: the status page", facts.statusPageUrl],
    [
      "Ask the cluster",
      `export KUBECONFIG=${kubeconfig}`,
      `${kubectl} get nodes -o wide`,
      `${kubectl} describe service web`,
    ],
    [
      "Call the Service: the cloud's load balancer forwards to a node, which answers with its name",
      `curl ${serviceUrl}`,
    ],
    [
      "Add a machine at the cloud: its kubelet registers, the controller does the rest",
      `curl -X POST ${cloudUrl}/v1/instances ${authorization} -H 'Content-Type: application/json' -d '${node}'`,
    ],
    ["Add a Service", `${kubectl} apply -f demo/shop.yaml`, `${kubectl} get services`],
    [
      "Kill the provider: it is started again, and what was asked meanwhile is carried out",
      `kill -9 ${providerPid}`,
      `${kubectl} delete service web`,
    ],
    ["Look inside", `curl ${facts.healthUrl}/readyz?verbose`, `curl ${facts.healthUrl}/metrics`, `ls ${logs}`],
  ];
  return entries
    .map(([title, ...commands]) => [paint.bold(title), ...commands.map((command) => `    ${command}`)].join("\n"))
    .join("\n\n");
}
