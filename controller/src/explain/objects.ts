import type { ObjectKind, ObjectRef } from "@cloudwire/operator-api";
import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  NODE_IPAM_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  SERVICE_LB_CONTROLLER,
} from "../api/controller-names.ts";
import { passKey, providerOfPassKey } from "../controllers/route/pass.ts";

/** One controller that works on an object, and by which key. */
export interface Worker {
  readonly controller: string;
  readonly key: string;
}

/** By kind, what matters most first. */
const CONTROLLERS_OF: Readonly<Record<ObjectKind, readonly string[]>> = {
  node: [CLOUD_NODE_CONTROLLER, CLOUD_NODE_LIFECYCLE_CONTROLLER, NODE_IPAM_CONTROLLER],
  service: [SERVICE_LB_CONTROLLER],
  route: [NODE_ROUTE_CONTROLLER],
  provider: [NODE_ROUTE_CONTROLLER],
};

/** Who works on an object. */
export function workersOf(kind: ObjectKind, name: string): readonly Worker[] {
  const key = kind === "provider" ? passKey(name) : name;
  return CONTROLLERS_OF[kind].map((controller) => ({ controller, key }));
}

/** The object that a key of a controller is about; undefined: none that is explained. */
export function objectOf({ controller, key }: Worker): ObjectRef | undefined {
  switch (controller) {
    case CLOUD_NODE_CONTROLLER:
    case CLOUD_NODE_LIFECYCLE_CONTROLLER:
    case NODE_IPAM_CONTROLLER:
      return `node/${key}`;
    case SERVICE_LB_CONTROLLER:
      return `service/${key}`;
    case NODE_ROUTE_CONTROLLER: {
      const provider = providerOfPassKey(key);
      return provider === undefined ? `route/${key}` : `provider/${provider}`;
    }
    default:
      return undefined;
  }
}
