import { dnsLabel } from "../../validation/names.ts";
import { age, ageColumn, nameColumn } from "../columns.ts";
import type { Cell, Resource } from "../resource.ts";
import { type Pools, allocate, dropTypeDependentFields, reallocate } from "./allocation.ts";
import { applyServiceDefaults } from "./defaults.ts";
import { type Service, isLoadBalancer } from "./service.ts";
import { warnOfService } from "./warnings.ts";
import { validateService, validateServiceStatus, validateServiceUpdate } from "./validate.ts";

export function createServices(pools: Pools): Resource<Service> {
  return {
    group: "",
    version: "v1",
    name: "services",
    singular: "service",
    kind: "Service",
    type: "core.v1.Service",
    namespaced: true,
    shortNames: ["svc"],
    categories: ["all"],
    nameRule: dnsLabel,
    strategy: {
      allowCreateOnUpdate: true,
      allowUnconditionalUpdate: true,
      returnsDeleted: true,
      applyDefaults: applyServiceDefaults,
      allocate: (service) => allocate(service, pools),
      reallocate: (service, old) => reallocate(service, old, pools),
      prepareForCreate: (service) => ({ ...service, status: { loadBalancer: {} } }),
      prepareForUpdate: (service, old) => prepareForUpdate(service, old),
      validate: validateService,
      warn: warnOfService,
      validateUpdate: validateServiceUpdate,
    },
    subresources: [
      {
        name: "status",
        verbs: ["get", "patch", "update"],
        prepareForUpdate: (service, old) => ({ ...service, spec: old.spec }),
        validateUpdate: validateServiceStatus,
      },
    ],
    columns: [
      nameColumn,
      { name: "Type" },
      { name: "Cluster-IP" },
      { name: "External-IP" },
      { name: "Port(s)" },
      ageColumn,
      { name: "Selector", priority: 1 },
    ],
    row,
    selectableFields: ["spec.clusterIP", "spec.type"],
    fieldsOf: ({ spec }) => ({ "spec.clusterIP": spec.clusterIP ?? "", "spec.type": spec.type ?? "" }),
  };
}

function prepareForUpdate(service: Service, old: Service): Service {
  const prepared = dropTypeDependentFields({ ...service, status: old.status }, old);
  return isLoadBalancer(prepared) ? prepared : { ...prepared, status: { ...prepared.status, loadBalancer: {} } };
}

function row(service: Service, nowMs: number): readonly Cell[] {
  const { spec, metadata } = service;
  const ports = (spec.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort === undefined ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`,
  );
  const selector = Object.entries(spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return [
    metadata.name ?? "",
    spec.type ?? "",
    spec.clusterIPs?.[0] ?? "<none>",
    externalIp(service),
    ports.join(",") || "<none>",
    age(service, nowMs),
    selector.sort().join(",") || "<none>",
  ];
}

function externalIp(service: Service): string {
  const { spec, status } = service;
  const own = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return spec.externalName ?? "";
  if (spec.type !== "LoadBalancer") return own.join(",") || "<none>";
  const balanced = (status.loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? "");
  const shown = [...new Set(balanced.filter((address) => address !== ""))].sort().join(",");
  // Table rows are always made wide; kubectl hides columns, not characters.
  return [shown, ...own].filter((address) => address !== "").join(",") || "<pending>";
}
