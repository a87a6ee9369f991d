import { type KubeObject, nameOf } from "../object.ts";
import { type FieldError, invalidValue } from "../validation/field-error.ts";
import { dnsSubdomain } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Resource } from "./resource.ts";

type Lease = KubeObject &
  Readonly<{
    spec: Readonly<{
      holderIdentity?: string | undefined;
      leaseDurationSeconds?: number | undefined;
      leaseTransitions?: number | undefined;
      strategy?: string | undefined;
      preferredHolder?: string | undefined;
    }>;
  }>;

export const leases: Resource<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  name: "leases",
  singular: "lease",
  kind: "Lease",
  type: "coordination.v1.Lease",
  namespaced: true,
  nameRule: dnsSubdomain,
  anyFinalizer: true,
  strategy: {
    allowCreateOnUpdate: true,
    prepareForCreate: withoutCoordination,
    prepareForUpdate: withoutCoordination,
    validate: validateSpec,
    validateUpdate: validateSpec,
  },
  subresources: [],
  columns: [nameColumn, { name: "Holder" }, ageColumn],
  row: (lease, nowMs) => [nameOf(lease), lease.spec.holderIdentity ?? "", age(lease, nowMs)],
  selectableFields: [],
};

/** The feature CoordinatedLeaderElection is off by default. */
function withoutCoordination(lease: Lease): Lease {
  return { ...lease, spec: { ...lease.spec, strategy: undefined, preferredHolder: undefined } };
}

function validateSpec({ spec }: Lease): readonly FieldError[] {
  const { leaseDurationSeconds: seconds = 1, leaseTransitions: transitions = 0 } = spec;
  return [
    ...(seconds > 0 ? [] : [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]),
    ...(transitions >= 0
      ? []
      : [invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]),
  ];
}
