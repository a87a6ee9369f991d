import { type JsonRecord, recordField, recordsField, stringsField } from "../../util/json.ts";
import type { Resource } from "./codec.ts";

/** Ranges of Service IPs. */
export const SERVICE_CIDRS: Resource<readonly string[]> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  namespaced: false,
  fromJson: (object: JsonRecord) => stringsField(recordField(object, "spec"), "cidrs"),
};

/** Addresses of endpoints. That of Service `default/kubernetes` has the API servers. */
export const ENDPOINT_SLICES: Resource<readonly string[]> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
  fromJson: (object: JsonRecord) =>
    recordsField(object, "endpoints", (endpoint) => stringsField(endpoint, "addresses")).flat(),
};
