import { AnnotationReader, type AnnotationSchema } from "@cloudwire/provider-sdk";
import { loadBalancerClasses } from "../../api/load-balancers.ts";

/** Domain of the provider: of its annotations and its load balancer classes. */
export const domain = "simulated.cloudwire.dev";

const prefix = `${domain}/`;

/** spec.loadBalancerClass values, one a flavour. */
export const classes: readonly string[] = loadBalancerClasses.map((flavour) => prefix + flavour);

export const annotationSchemas: readonly AnnotationSchema[] = [
  {
    key: `${prefix}flavour`,
    type: "enum",
    allowedValues: loadBalancerClasses,
    defaultValue: "standard",
    description: "Flavour of the load balancer of a Service without a class.",
    mutable: false,
  },
  {
    key: `${prefix}idle-timeout-seconds`,
    type: "integer",
    defaultValue: "60",
    description: "After how many seconds without traffic a connection is reset, 1 to 3600.",
    mutable: true,
  },
];

export type Flavour = (typeof loadBalancerClasses)[number];

/** What class and annotations say. */
export interface AnnotatedWish {
  readonly flavour: Flavour;
  readonly idleTimeoutMs: number;
}

/** Reads class and annotations, which the SDK has held to what is declared. @throws ProviderError on a time that is out of bounds */
export function readAnnotations(
  loadBalancerClass: string | undefined,
  annotations: Readonly<Record<string, string>>,
): AnnotatedWish {
  const read = new AnnotationReader<"flavour" | "idle-timeout-seconds">(annotations, { prefix });
  const named = loadBalancerClass?.slice(prefix.length) ?? read.text("flavour");
  const wish = {
    flavour: loadBalancerClasses.find((flavour) => flavour === named) ?? "standard",
    idleTimeoutMs: read.number("idle-timeout-seconds", 1, 3600, 60) * 1000,
  };
  read.end();
  return wish;
}
