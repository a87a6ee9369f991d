// Node condition types: k8s.io/api/core/v1/types.go v0.36.3.
export const NODE_READY = "Ready";
export const NODE_NETWORK_UNAVAILABLE = "NetworkUnavailable";

// Reasons of NetworkUnavailable: cloud-provider/controllers/route/route_controller.go v0.36.3.
export const REASON_ROUTE_CREATED = "RouteCreated";
export const REASON_NO_ROUTE_CREATED = "NoRouteCreated";

export const TRUE = "True";
export const FALSE = "False";
export const UNKNOWN = "Unknown";
