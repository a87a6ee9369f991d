import {
  CONTAINER_SECURITY_CONTEXT,
  ENV,
  ENV_FROM,
  HTTP_PORT,
  LABELS,
  RESOURCES,
  VOLUME_MOUNTS,
} from "./kubernetes-types.ts";
import { closed, type Field, FILLED, listOf, oneOf, TEXT } from "./value.ts";

/** A DNS label that leaves room for what volumes are called after it. `controller` is the other container. */
const PROVIDER_NAME = {
  type: "string",
  pattern: "^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$",
  not: { const: "controller" },
} as const;

export const PROVIDER_FIELDS: Readonly<Record<string, Field>> = {
  name: {
    about: "Name of the provider, its container and its socket: a DNS label.",
    schema: PROVIDER_NAME,
    isRequired: true,
  },
  image: {
    about:
      "`registry`, `repository`, `tag`, `digest`, `pullPolicy`. The defaults are those of the controller, with repository `cloudwire-provider-<name>`.",
    schema: closed({
      registry: TEXT,
      repository: FILLED,
      tag: TEXT,
      digest: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
      pullPolicy: oneOf("Always", "IfNotPresent", "Never"),
    }),
  },
  args: { about: "Arguments of the provider.", schema: listOf({ type: "string" }) },
  env: { about: "Environment of the provider.", schema: ENV },
  envFrom: {
    about: "Environment from whole Secrets and ConfigMaps, such as credentials of the cloud.",
    schema: ENV_FROM,
  },
  secrets: {
    about: "Secrets that are mounted into this container only, as `{name, mountPath}`.",
    schema: listOf(closed({ name: FILLED, mountPath: { type: "string", pattern: "^/." } }, ["name", "mountPath"])),
  },
  files: {
    about: "Configuration files by name, which are mounted at `/etc/cloud-provider`. A change restarts it.",
    schema: LABELS,
  },
  httpPort: {
    about: "Port of its probes and metrics, unique among the providers. Without a port it has no probes.",
    schema: HTTP_PORT,
  },
  httpHost: {
    about: "Address of that port. Default: 127.0.0.1 with `hostNetwork`, otherwise all.",
    schema: FILLED,
  },
  resources: { about: "Replaces `providerResources`.", schema: RESOURCES },
  securityContext: { about: "Replaces the whole `securityContext`.", schema: CONTAINER_SECURITY_CONTEXT },
  volumeMounts: { about: "Mounts of `volumes` into this container.", schema: VOLUME_MOUNTS },
};
