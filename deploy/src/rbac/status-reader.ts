import { STATUS_READER, STATUS_READER_PATHS } from "@cloudwire/controller/permissions";

/** What lets operators read the status page, to be bound to them. */
export const STATUS_READER_ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: `cloudwire:${STATUS_READER}` },
  rules: [{ nonResourceURLs: STATUS_READER_PATHS, verbs: ["get"] }],
} as const;
