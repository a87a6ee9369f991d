// Kubernetes' own types, as far as values.schema.json can catch a mistyped field before the API server does.
import { BOOLEAN, closed, FILLED, listOf, oneOf, PORT, type Schema, TEXT, TEXTS } from "./value.ts";

const OBJECT: Schema = { type: "object" };
const WHOLE: Schema = { type: "integer", minimum: 0 };
const QUANTITIES: Schema = { type: "object", additionalProperties: { type: ["string", "number"] } };
const SECCOMP = closed({ type: FILLED, localhostProfile: TEXT }, ["type"]);

export const ENV = listOf(closed({ name: FILLED, value: TEXT, valueFrom: OBJECT }, ["name"]));

export const ENV_FROM = listOf(closed({ prefix: TEXT, configMapRef: OBJECT, secretRef: OBJECT }));

export const RESOURCES = closed({ requests: QUANTITIES, limits: QUANTITIES, claims: listOf(OBJECT) });

export const VOLUMES = listOf({ type: "object", required: ["name"], properties: { name: FILLED } });

export const VOLUME_MOUNTS = listOf(
  closed(
    {
      name: FILLED,
      mountPath: FILLED,
      subPath: TEXT,
      subPathExpr: TEXT,
      readOnly: BOOLEAN,
      recursiveReadOnly: TEXT,
      mountPropagation: TEXT,
    },
    ["name", "mountPath"],
  ),
);

export const TOLERATIONS = listOf(
  closed({
    key: TEXT,
    operator: TEXT,
    value: TEXT,
    effect: oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
    tolerationSeconds: { type: "integer" },
  }),
);

export const AFFINITY = closed({ nodeAffinity: OBJECT, podAffinity: OBJECT, podAntiAffinity: OBJECT });

export const CONTAINER_SECURITY_CONTEXT = closed({
  allowPrivilegeEscalation: BOOLEAN,
  appArmorProfile: SECCOMP,
  capabilities: closed({ add: listOf(FILLED), drop: listOf(FILLED) }),
  privileged: BOOLEAN,
  procMount: TEXT,
  readOnlyRootFilesystem: BOOLEAN,
  runAsGroup: WHOLE,
  runAsNonRoot: BOOLEAN,
  runAsUser: WHOLE,
  seLinuxOptions: OBJECT,
  seccompProfile: SECCOMP,
});

export const POD_SECURITY_CONTEXT = closed({
  appArmorProfile: SECCOMP,
  fsGroup: WHOLE,
  fsGroupChangePolicy: TEXT,
  runAsGroup: WHOLE,
  runAsNonRoot: BOOLEAN,
  runAsUser: WHOLE,
  seLinuxOptions: OBJECT,
  seccompProfile: SECCOMP,
  supplementalGroups: listOf(WHOLE),
  supplementalGroupsPolicy: TEXT,
  sysctls: listOf(closed({ name: FILLED, value: TEXT }, ["name", "value"])),
});

export const SUBJECTS = listOf(
  closed({ kind: oneOf("ServiceAccount", "User", "Group"), name: FILLED, namespace: TEXT, apiGroup: TEXT }, [
    "kind",
    "name",
  ]),
);

export const PEERS = listOf(closed({ podSelector: OBJECT, namespaceSelector: OBJECT, ipBlock: OBJECT }));

export const EGRESS = listOf(closed({ to: PEERS, ports: listOf(OBJECT) }));

export const UPDATE_STRATEGY = closed({
  type: oneOf("RollingUpdate", "Recreate", "OnDelete"),
  rollingUpdate: closed({ maxSurge: { type: ["integer", "string"] }, maxUnavailable: { type: ["integer", "string"] } }),
});

export const PULL_SECRETS = listOf(closed({ name: FILLED }, ["name"]));

export const LABELS = TEXTS;

export const HTTP_PORT = PORT;
