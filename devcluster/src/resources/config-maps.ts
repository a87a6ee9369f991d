import { sameJson } from "../json.ts";
import { type KubeObject, type StringMap, nameOf } from "../object.ts";
import { type FieldError, forbiddenField, invalidValue, tooLong } from "../validation/field-error.ts";
import { dnsSubdomain, isConfigMapKey } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Resource } from "./resource.ts";

type ConfigMap = KubeObject &
  Readonly<{
    data?: StringMap | undefined;
    binaryData?: StringMap | undefined;
    immutable?: boolean | undefined;
  }>;

/** Upstream MaxSecretSize, which counts for config maps too. */
const sizeLimitBytes = 1024 * 1024;

export const configMaps: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  name: "configmaps",
  singular: "configmap",
  kind: "ConfigMap",
  type: "core.v1.ConfigMap",
  namespaced: true,
  shortNames: ["cm"],
  nameRule: dnsSubdomain,
  strategy: {
    allowUnconditionalUpdate: true,
    validate,
    validateUpdate: (config, old) => [...validateUnchanged(config, old), ...validate(config)],
  },
  subresources: [],
  columns: [nameColumn, { name: "Data" }, ageColumn],
  row: (config, nowMs) => [
    nameOf(config),
    Object.keys(config.data ?? {}).length + Object.keys(config.binaryData ?? {}).length,
    age(config, nowMs),
  ],
  selectableFields: [],
};

function validate({ data = {}, binaryData = {} }: ConfigMap): readonly FieldError[] {
  const text = Object.keys(data).flatMap((key) => [
    ...isConfigMapKey(key).map((complaint) => invalidValue(`data[${key}]`, key, complaint)),
    ...(key in binaryData ? [invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData")] : []),
  ]);
  const binary = Object.keys(binaryData).flatMap((key) =>
    isConfigMapKey(key).map((complaint) => invalidValue(`binaryData[${key}]`, key, complaint)),
  );
  const sizes = [
    ...Object.values(data).map((value) => Buffer.byteLength(value)),
    ...Object.values(binaryData).map((value) => Buffer.byteLength(value, "base64")),
  ];
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  return [...text, ...binary, ...(sizeBytes > sizeLimitBytes ? [tooLong("[]", sizeLimitBytes)] : [])];
}

function validateUnchanged(config: ConfigMap, old: ConfigMap): readonly FieldError[] {
  if (old.immutable !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  return [
    ...(config.immutable === true ? [] : [forbiddenField("immutable", detail)]),
    ...(sameJson(config.data, old.data) ? [] : [forbiddenField("data", detail)]),
    ...(sameJson(config.binaryData, old.binaryData) ? [] : [forbiddenField("binaryData", detail)]),
  ];
}
