import { type AnnotationSchema, ProviderError } from "@cloudwire/provider-sdk";
import { loadBalancerClasses } from "../../api/load-balancers.ts";

/** Domain of the provider: of its annotations and its load balancer classes. */
export const domain = "simulated.cloudwire.dev";

const flavourKey = `${domain}/flavour`;
const idleTimeoutKey = `${domain}/idle-timeout-seconds`;

/** spec.loadBalancerClass values, one a flavour. */
export const classes: readonly string[] = loadBalancerClasses.map((flavour) => `${domain}/${flavour}`);

export const annotationSchemas: readonly AnnotationSchema[] = [
  {
    key: flavourKey,
    type: "enum",
    allowedValues: loadBalancerClasses,
    defaultValue: "standard",
    description: "Flavour of the load balancer of a Service without a class.",
    mutable: false,
  },
  {
    key: idleTimeoutKey,
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

/** Reads class and annotations. @throws ProviderError on a class or a value that is not of this provider */
export function readAnnotations(
  loadBalancerClass: string | undefined,
  annotations: Readonly<Record<string, string>>,
): AnnotatedWish {
  return {
    flavour: flavourOf(loadBalancerClass, annotations[flavourKey]),
    idleTimeoutMs: idleTimeoutOf(annotations[idleTimeoutKey] ?? "60"),
  };
}

function flavourOf(loadBalancerClass: string | undefined, annotation: string | undefined): Flavour {
  if (loadBalancerClass !== undefined) {
    const flavour = loadBalancerClasses.find((candidate) => `${domain}/${candidate}` === loadBalancerClass);
    if (flavour !== undefined) return flavour;
    const message = `load balancer class ${loadBalancerClass} is not one of ${classes.join(", ")}`;
    throw new ProviderError("CLASS_UNSUPPORTED", message, { field: "spec.class" });
  }
  const flavour = loadBalancerClasses.find((candidate) => candidate === (annotation ?? "standard"));
  return flavour ?? refuse(flavourKey, `must be one of ${loadBalancerClasses.join(", ")}`);
}

function idleTimeoutOf(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 3600) return seconds * 1000;
  return refuse(idleTimeoutKey, "must be a whole number of seconds, 1 to 3600");
}

function refuse(key: string, problem: string): never {
  const field = `spec.annotations[${JSON.stringify(key)}]`;
  throw new ProviderError("ANNOTATION_INVALID", `annotation ${key} ${problem}`, { field });
}
