/** Holds a Service until its load balancer is gone. cloud-provider/service/helpers/helper.go v0.36.3. */
export const LOAD_BALANCER_CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
