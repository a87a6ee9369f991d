import { AnnotationReader, type AnnotationSchema } from "@cloudwire/provider-sdk";
import { loadBalancerClasses } from "../../api/load-balancers.ts";

/** Domain of the provider: of its annotations and its load balancer classes. */
export const domain = "simulated.cloudwire.dev";

const prefix = `${domain}/`;

export const ipModes = ["Proxy", "VIP"] as const;
export type IpMode = (typeof ipModes)[number];

/** spec.loadBalancerClass values, one a flavor. */
export const classes: readonly string[] = loadBalancerClasses.map((flavor) => prefix + flavor);

export const annotationSchemas: readonly AnnotationSchema[] = [
  {
    key: `${prefix}flavor`,
    type: "enum",
    allowedValues: loadBalancerClasses,
    defaultValue: "standard",
    description: "Flavor of the load balancer of a Service without a class.",
    mutable: false,
  },
  {
    key: `${prefix}idle-timeout-seconds`,
    type: "integer",
    defaultValue: "60",
    description: "Idle timeout of connections in seconds, 1 to 3600.",
    mutable: true,
  },
  {
    key: `${prefix}ip-mode`,
    type: "enum",
    allowedValues: ipModes,
    defaultValue: "Proxy",
    description: "Reported IP mode of the load balancer's address. VIP is the default of Kubernetes.",
    mutable: true,
  },
  {
    key: `${prefix}served`,
    type: "bool",
    defaultValue: "true",
    description: "If false, another controller serves the Service.",
    mutable: true,
  },
];

export type Flavor = (typeof loadBalancerClasses)[number];

/** What class and annotations say. */
export interface AnnotationSettings {
  readonly flavor: Flavor;
  readonly idleTimeoutMs: number;
  readonly ipMode: IpMode;
  /** By this provider. */
  readonly isServed: boolean;
}

/** Reads class and annotations, which the SDK has held to what is declared. @throws ProviderError on a time that is out of bounds */
export function readAnnotations(
  loadBalancerClass: string | undefined,
  annotations: Readonly<Record<string, string>>,
): AnnotationSettings {
  const read = new AnnotationReader<"flavor" | "idle-timeout-seconds" | "ip-mode" | "served">(annotations, { prefix });
  const named = loadBalancerClass?.slice(prefix.length) ?? read.string("flavor");
  const settings = {
    flavor: loadBalancerClasses.find((flavor) => flavor === named) ?? "standard",
    idleTimeoutMs: read.number("idle-timeout-seconds", 1, 3600, 60) * 1000,
    ipMode: toIpMode(read.string("ip-mode")),
    isServed: read.flag("served", true),
  };
  read.throwIfInvalid();
  return settings;
}

export function toIpMode(text: string | undefined): IpMode {
  return ipModes.find((mode) => mode === text) ?? "Proxy";
}
