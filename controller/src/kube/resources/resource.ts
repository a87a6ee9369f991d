import type { BinaryReader } from "@bufbuild/protobuf/wire";
import type { ObjectName } from "../../api/meta.ts";
import type { JsonRecord } from "../../util/json.ts";

/** A kind the client can speak: where it lives and how its bytes become objects. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Throws DecodeError when a field has another type than Kubernetes gives it. */
  readonly fromJson: (object: JsonRecord) => T;
  /** Left out for kinds that are only ever read as JSON. */
  readonly protobuf?: ProtobufCodec<T>;
}

/** Decoders over the message itself: the "k8s\0" envelope is taken off before. */
export interface ProtobufCodec<T> {
  readonly decode: (reader: BinaryReader) => T;
  readonly decodeList: (reader: BinaryReader) => DecodedList<T>;
}

/** One page of a list. */
export interface DecodedList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly continue: string;
}

/** "v1" or "coordination.k8s.io/v1". */
export function apiVersionOf({ group, version }: Resource<unknown>): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Path of a collection: of one namespace, or of all when `namespace` is left out. */
export function collectionPath(resource: Resource<unknown>, namespace?: string): string {
  const { group, version, plural } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === undefined || namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${plural}`;
}

export function objectPath(resource: Resource<unknown>, { namespace, name }: ObjectName, subresource?: string): string {
  const tail = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}${tail}`;
}

/** `?a=b&c=d` of what is set; "" when nothing is. */
export function queryString(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
