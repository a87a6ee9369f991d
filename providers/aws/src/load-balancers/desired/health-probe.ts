import type { DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import type { Annotations } from "../annotations.ts";

/** AWS' word for the port that traffic goes to. */
const trafficPort = "traffic-port";

/** How targets are asked whether they want traffic. */
export interface HealthProbe {
  readonly protocol: "TCP" | "HTTP" | "HTTPS";
  /** A number, or {@link trafficPort}. */
  readonly port: string;
  /** Of HTTP and HTTPS. */
  readonly path?: string | undefined;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  readonly healthyCount: number;
  readonly unhealthyCount: number;
}

type Target = Pick<HealthProbe, "protocol" | "port" | "path">;

/** Where kube-proxy says whether it serves the node. */
const kubeProxy: Target = { protocol: "HTTP", port: "10256", path: "/healthz" };

/** In order of precedence: annotations, the request of Kubernetes, the default of the protocol. A UDP port does not accept TCP. */
export function readHealthProbe(
  read: Annotations,
  { healthCheck }: Pick<DesiredLoadBalancer, "healthCheck">,
  protocol: "TCP" | "UDP" | "TCP_UDP",
): HealthProbe {
  const own = healthCheck
    ? requestedTarget(healthCheck)
    : protocol === "UDP"
      ? kubeProxy
      : { protocol: "TCP" as const, port: trafficPort };
  const asked = protocols.find((name) => name === read.string("healthcheck-protocol")?.toUpperCase());
  const target: Target = { ...own, protocol: asked ?? own.protocol, port: read.string("healthcheck-port") ?? own.port };
  if (target.port !== trafficPort && !isPort(target.port))
    read.addViolation("healthcheck-port", `must be a port or ${trafficPort}`);
  return {
    protocol: target.protocol,
    port: target.port,
    ...(target.protocol === "TCP" ? {} : { path: read.string("healthcheck-path") ?? own.path ?? "/" }),
    intervalSeconds: read.number("healthcheck-interval", 5, 300, 10),
    timeoutSeconds: read.number("healthcheck-timeout", 2, 120, 6),
    healthyCount: read.number("healthcheck-healthy-threshold", 2, 10, 2),
    unhealthyCount: read.number("healthcheck-unhealthy-threshold", 2, 10, 2),
  };
}

const protocols = ["TCP", "HTTP", "HTTPS"] as const;

function requestedTarget({ port, path }: { readonly port: number; readonly path?: string | undefined }): Target {
  return path === undefined ? { protocol: "TCP", port: String(port) } : { protocol: "HTTP", port: String(port), path };
}

function isPort(text: string): boolean {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}
