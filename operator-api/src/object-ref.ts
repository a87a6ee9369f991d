/** Kinds of objects. A route is named after its Node. */
export const OBJECT_KINDS = ["node", "service", "route", "provider"] as const;

export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** `node/worker-1`, `service/shop/web`, `route/worker-1`, `provider/aws`. */
export type ObjectRef = `${ObjectKind}/${string}`;
