import type { KubeObject } from "../api/meta.ts";

/** A kind the client can speak: where it lives and how its bytes become objects. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Throws DecodeError when the value is not an object of this kind. */
  readonly fromJson: (value: unknown) => T;
  /** Left out for kinds that are only ever read as JSON. */
  readonly protobuf?: ProtobufCodec<T>;
}

/** Decoders over the body of runtime.Unknown (the "k8s\0" envelope is taken off before). */
export interface ProtobufCodec<T> {
  readonly decode: (raw: Uint8Array) => T;
  readonly decodeList: (raw: Uint8Array) => DecodedList<T>;
}

export interface DecodedList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly continue: string;
}

/** Kinds that informers can cache. */
export type CachedResource<T extends KubeObject> = Resource<T>;
