import type { Service } from "../../../api/service.ts";
import type { AnnotationSchema } from "../../../provider/model/info.ts";
import type { UnsupportedRequest } from "./unsupported.ts";

/**
 * Changes of annotations that the provider applies only when it creates a load balancer, by their declared schemas.
 * @param before the Service of the load balancer in force
 */
export function immutableChanges(
  before: Service,
  service: Service,
  schemas: readonly AnnotationSchema[],
): readonly UnsupportedRequest[] {
  return schemas.flatMap(({ key, isMutable, defaultValue }) => {
    // Providers read an empty value as unset.
    const [was, is] = [before, service].map(({ metadata }) => metadata.annotations[key]?.trim() || defaultValue);
    if (isMutable || was === is) return [];
    const message = `the provider sets it only when it creates the load balancer, and it stays ${valueText(was)}: change it back, or recreate the Service`;
    return [{ feature: "ImmutableAnnotation", field: `metadata.annotations["${key}"]`, message, effect: "refused" }];
  });
}

function valueText(value: string | undefined): string {
  return value === undefined ? "unset" : JSON.stringify(value);
}
