import type { ObjectMeta } from "../../api/meta.ts";
import { stringMapField } from "../../util/json.ts";
import { metaFromJson } from "./codec.ts";
import type { Resource } from "./resource.ts";

export interface ConfigMap {
  readonly metadata: ObjectMeta;
  readonly data: Readonly<Record<string, string>>;
}

/** v1 configmaps. JSON only: small, and read once a minute. */
export const CONFIG_MAPS: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  fromJson: (object) => ({ metadata: metaFromJson(object), data: stringMapField(object, "data") }),
};
