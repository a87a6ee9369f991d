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
    about: "What the controller calls it, and its container and socket are called: a DNS label.",
    schema: PROVIDER_NAME,
    isRequired: true,
  },
  image: {
    about:
      "`registry`, `repository`, `tag`, `digest`, `pullPolicy`; what is left out is as for the controller, the repository `cloudwire-provider-<name>`.",
    schema: closed({
      registry: TEXT,
      repository: FILLED,
      tag: TEXT,
      digest: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
      pullPolicy: oneOf("Always", "IfNotPresent", "Never"),
    }),
  },
  args: { about: "Its options.", schema: listOf({ type: "string" }) },
  env: { about: "Its environment, as in a container.", schema: ENV },
  envFrom: { about: "Likewise from whole Secrets and ConfigMaps: credentials of the cloud.", schema: ENV_FROM },
  secrets: {
    about: "Secrets that are mounted into this container and no other, as `{name, mountPath}`.",
    schema: listOf(closed({ name: FILLED, mountPath: { type: "string", pattern: "^/." } }, ["name", "mountPath"])),
  },
  files: {
    about: "Files of its configuration by name, which it finds in `/etc/cloud-provider`. A change starts it anew.",
    schema: LABELS,
  },
  httpPort: {
    about: "Port of its probes and figures, another one for each provider; without one it is not probed.",
    schema: HTTP_PORT,
  },
  httpHost: {
    about: "Address of that port. Default: 127.0.0.1 in the host's network, else all.",
    schema: FILLED,
  },
  resources: { about: "Instead of `providerResources`.", schema: RESOURCES },
  securityContext: { about: "Instead of `securityContext`, as a whole.", schema: CONTAINER_SECURITY_CONTEXT },
  volumeMounts: { about: "Mounts of `volumes` into this container.", schema: VOLUME_MOUNTS },
};
