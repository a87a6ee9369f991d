import type { Service } from "../../../api/service.ts";
import type { LoadBalancerRef } from "../../../provider/model/client.ts";
import { declaredAnnotations, serviceRef } from "../../../provider/convert/service.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";

/** Names a load balancer to its provider; ids of earlier answers are hints. */
export function loadBalancerRef(
  service: Service,
  info: ProviderInfo | undefined,
  loadBalancerId: string | undefined,
  operationId: string | undefined,
): LoadBalancerRef {
  return {
    service: serviceRef(service),
    class: service.spec.loadBalancerClass,
    annotations: declaredAnnotations(service, info?.annotationPrefixes ?? []),
    ...(operationId === undefined || operationId === "" ? {} : { operationId }),
    ...(loadBalancerId === undefined || loadBalancerId === "" ? {} : { loadBalancerId }),
  };
}
