import { isRecord, textAt, valueAt, without } from "./value.ts";

/** A difference that devcluster is allowed, with the reason. Nothing else may differ. */
export interface Allowance {
  readonly what: string;
  readonly why: string;
  /** Makes the two sides alike in this one respect. Gets every value of an answer, innermost last. */
  readonly forgive: (value: unknown, place: Place) => unknown;
}

/** Where a value was found. */
export interface Place {
  /** Such as "POST /api/v1/nodes". */
  readonly request: string;
  /** The key under which the value is, "" for elements of lists. */
  readonly key: string;
}

const goJsonError =
  /(?:json: cannot unmarshal|json parse error|invalid character|unexpected end of JSON|Unexpected token|Unexpected end of JSON|Expected (?:property|double|','|',')).*/s;

/** The resources that devcluster serves, by group and version. */
const served: Readonly<Record<string, readonly string[]>> = {
  v1: ["configmaps", "events", "namespaces", "nodes", "persistentvolumes", "pods", "services"],
  "authentication.k8s.io/v1": ["selfsubjectreviews", "tokenreviews"],
  "authorization.k8s.io/v1": ["selfsubjectaccessreviews", "subjectaccessreviews"],
};
const unservedSubresources = [
  "attach",
  "binding",
  "ephemeralcontainers",
  "eviction",
  "exec",
  "log",
  "portforward",
  "proxy",
  "resize",
];
const servedGroups = [
  "authentication.k8s.io",
  "authorization.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
];

/** Everything in which devcluster is not the real server. */
export const allowances: readonly Allowance[] = [
  {
    what: "metadata.managedFields",
    why: "field ownership serves server-side apply only, which devcluster refuses",
    forgive: (value, { key }) => (key === "metadata" ? without(value, "managedFields") : value),
  },
  {
    what: "descriptions of table columns",
    why: "they are Kubernetes' documentation texts; kubectl get does not show them",
    forgive: (value, { key }) =>
      key === "columnDefinitions" ? mapList(value, (column) => without(column, "description")) : value,
  },
  {
    what: "storageVersionHash in discovery",
    why: "only the storage version migrator reads it",
    forgive: (value) => without(value, "storageVersionHash"),
  },
  {
    what: "kinds, subresources and groups of discovery that devcluster does not serve",
    why: "it is as small as its users allow",
    forgive: forgiveDiscovery,
  },
  {
    what: "the wording of Go's JSON reader",
    why: "the code, the reason and the beginning of the message are alike; the rest names Go types and bytes",
    forgive: (value, { key }) =>
      key === "message" && typeof value === "string" ? value.replace(goJsonError, "<JSON error>") : value,
  },
  {
    what: "order and repetition of the causes of a 422",
    why: "the real server checks some things twice and maps in no order; the causes themselves have to be the same",
    forgive: forgiveCauses,
  },
  {
    what: "the patched document quoted in an error about it",
    why: "the real server prints it as it printed it internally",
    forgive: (value) =>
      isRecord(value) && value["field"] === "patch"
        ? { ...value, message: textAt(value, "message").replace(/^Invalid value: ".*": (?=\S)/s, "Invalid value: …: ") }
        : value,
  },
  {
    what: "media types offered in 406 and 415",
    why: "devcluster has no YAML, and none of its clients sends any",
    forgive: (value, { key }) =>
      key === "message" && typeof value === "string"
        ? value.replace(
            /(accepted media types include: |Available representations: |media types are accepted: ).*/,
            "$1…",
          )
        : value,
  },
  {
    what: "build of /version",
    why: "devcluster is no build of Kubernetes; major and minor are alike",
    forgive: (value, { request }) =>
      request === "GET /version"
        ? ["gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"].reduce(
            without,
            value,
          )
        : value,
  },
  {
    what: "the rest of an error about a time or base64",
    why: "it says how far Go's reader came",
    forgive: (value) =>
      typeof value === "string"
        ? value.replace(/(parsing time ).*|(illegal base64 data at input byte )\d+/s, "$1$2…")
        : value,
  },
  {
    what: "path of an object in etcd, and the difference printed after some messages",
    why: "devcluster has no etcd, and prints no differences",
    forgive: (value) =>
      typeof value === "string" ? value.replace(/Key: \/registry\/[^,]+,/, "Key: …,").replace(/\n@@.*/s, "") : value,
  },
  {
    what: "target port of the Service default/kubernetes",
    why: "it is the port that each server listens on",
    forgive: (value, { request }) => (request.endsWith("/services/kubernetes") ? without(value, "targetPort") : value),
  },
  {
    what: "address in /api",
    why: "each server has its own",
    forgive: (value) => without(value, "serverAddress"),
  },
];

function forgiveCauses(value: unknown): unknown {
  const causes = valueAt(valueAt(value, "details"), "causes");
  if (!isRecord(value) || !Array.isArray(causes)) return value;
  // By field first: messages may hold what each server made up.
  const unique = new Map(
    causes.map((cause) => [`${textAt(cause, "field")} ${textAt(cause, "message")}`, cause] as const),
  );
  const sorted = [...unique].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, cause]) => cause);
  // The message repeats the causes.
  const message = textAt(value, "message").replace(/(is invalid: ).*/s, "$1…");
  const details = valueAt(value, "details");
  return { ...value, message, details: isRecord(details) ? { ...details, causes: sorted } : details };
}

function forgiveDiscovery(value: unknown, { key, request }: Place): unknown {
  if (!request.startsWith("GET /api")) return value;
  if (key === "groups") return filterList(value, (group) => servedGroups.includes(textAt(group, "name")));
  if (key === "items" && isAggregated(value)) {
    return filterList(value, (item) => ["", ...servedGroups].includes(textAt(valueAt(item, "metadata"), "name")));
  }
  if (key !== "resources" && key !== "subresources") return value;
  return filterList(value, (resource) => {
    const [name = "", subresource = textAt(resource, "subresource")] = (
      textAt(resource, "name") || textAt(resource, "resource")
    ).split("/");
    const known = Object.values(served).flat();
    const unknownKind =
      !known.includes(name) && name !== "" && textAt(resource, "subresource") === "" && !isOwnGroup(name);
    return !unknownKind && !unservedSubresources.includes(subresource);
  });
}

/** Resources of groups of which devcluster serves everything. */
function isOwnGroup(name: string): boolean {
  return ["certificatesigningrequests", "leases", "endpointslices"].includes(name);
}

function isAggregated(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => Array.isArray(valueAt(item, "versions")));
}

function mapList(value: unknown, change: (element: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(change) : value;
}

function filterList(value: unknown, keep: (element: unknown) => boolean): unknown {
  return Array.isArray(value) ? value.filter(keep) : value;
}
