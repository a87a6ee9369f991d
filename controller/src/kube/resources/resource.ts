import type { BinaryReader } from "@bufbuild/protobuf/wire";
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
