import { DecodeError, type JsonRecord, recordField, recordsField, stringField } from "../../util/json.ts";
import { isProtobuf, openEnvelope, parseJson } from "./envelope.ts";
import type { DecodedList, Resource } from "./resource.ts";
import type { StringCache } from "../../util/string-cache.ts";

/** One object of an answer, in whichever encoding the server chose. */
export function decodeObject<T>(
  resource: Resource<T>,
  bytes: Uint8Array,
  contentType: string | undefined,
  strings: StringCache,
): T {
  return naming(resource.kind, () => {
    if (!isProtobuf(contentType)) return resource.fromJson(ofKind(parseJson(bytes), resource.kind));
    return codecOf(resource).decode(openEnvelope(bytes, strings).reader);
  });
}

/** One page of a list. */
export function decodeList<T>(
  resource: Resource<T>,
  bytes: Uint8Array,
  contentType: string | undefined,
  strings: StringCache,
): DecodedList<T> {
  return naming(`${resource.kind}List`, () => {
    if (isProtobuf(contentType)) return codecOf(resource).decodeList(openEnvelope(bytes, strings).reader);
    const list = ofKind(parseJson(bytes), `${resource.kind}List`);
    const metadata = recordField(list, "metadata");
    return {
      items: recordsField(list, "items", resource.fromJson),
      resourceVersion: stringField(metadata, "resourceVersion"),
      continue: stringField(metadata, "continue"),
    };
  });
}

/** An answer of another kind (an object where a list was asked for) must not be read as an empty one. */
function ofKind(object: JsonRecord, wanted: string): JsonRecord {
  const kind = stringField(object, "kind");
  if (kind !== wanted) throw new DecodeError(`want kind "${wanted}", got "${kind}"`);
  return object;
}

function codecOf<T>(resource: Resource<T>): NonNullable<Resource<T>["protobuf"]> {
  if (resource.protobuf === undefined) throw new DecodeError("the server answered protobuf though JSON was asked for");
  return resource.protobuf;
}

function naming<T>(kind: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new DecodeError(`cannot decode ${kind}`, { cause: error });
  }
}
