/** One field of a Go struct as it appears in JSON. */
export interface FieldSpec {
  /** A scalar, `[]T`, `{}T` (map with string keys) or the key of a struct in the table. */
  readonly type: string;
  /** Number in protobuf; kind and apiVersion have none. */
  readonly number?: number;
  /** In protobuf the field is inside a message with this number, which JSON does not show. */
  readonly within?: number;
  /** Left out of JSON while it has its zero value. */
  readonly omit?: true;
  /** The Go field is a pointer: an explicit zero value is kept apart from absence. */
  readonly pointer?: true;
  /** Strategic merge patch joins lists of this field instead of replacing them. */
  readonly merge?: true;
  /** The field that identifies an element of a list of objects in a strategic merge patch. */
  readonly mergeKey?: string;
  /** Strategic merge patch accepts `$retainKeys` here. */
  readonly retainKeys?: true;
}

/** Structs by "group.version.Name", each with its fields in the order in which Go writes them. */
export type TypeTable = Readonly<Record<string, Readonly<Record<string, FieldSpec>>>>;
