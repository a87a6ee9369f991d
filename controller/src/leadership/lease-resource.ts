import type { Lease } from "../api/lease.ts";
import { type JsonRecord, numberField, recordField, stringField } from "../util/json.ts";
import { metaFromJson } from "../kube/resources/codec.ts";
import type { Resource } from "../kube/resources/resource.ts";

/** A Lease together with the object it was read from, which a full replace must not lose fields of. */
export interface StoredLease extends Lease {
  readonly raw: JsonRecord;
}

/** coordination.k8s.io/v1 leases. JSON only: one small object every two seconds. */
export const LEASES: Resource<StoredLease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
  fromJson,
};

function fromJson(object: JsonRecord): StoredLease {
  const spec = recordField(object, "spec");
  return {
    metadata: metaFromJson(object),
    spec: {
      holderIdentity: stringField(spec, "holderIdentity"),
      leaseDurationSeconds: numberField(spec, "leaseDurationSeconds"),
      acquireTime: stringField(spec, "acquireTime"),
      renewTime: stringField(spec, "renewTime"),
      leaseTransitions: numberField(spec, "leaseTransitions"),
    },
    raw: object,
  };
}
