import { type Json, type JsonObject, isJsonArray, isJsonObject, stringAt } from "../json.ts";
import { type Resource, apiVersionOf } from "../resources/resource.ts";
import type { Schema, Shape } from "../schema/schema.ts";
import { decodeMessage } from "./decode-message.ts";
import { encodeMessage } from "./encode-message.ts";
import { unwrap, watchFrame, wrap } from "./envelope.ts";
import { MessageWriter, ProtobufError } from "./wire.ts";

/** What a kind is called and made of. */
type DescribedKind = Pick<Resource, "group" | "version" | "kind" | "type">;

/** Translates whole documents between JSON and Kubernetes protobuf. */
export interface Translator {
  /** The document as JSON; throws ProtobufError. */
  readonly toJson: (document: Uint8Array) => JsonObject;
  /** The document as protobuf, undefined for kinds that have no such form here (tables, discovery). */
  readonly toProtobuf: (document: JsonObject) => Uint8Array | undefined;
  /** One line of a watch as a frame. */
  readonly toFrame: (event: JsonObject) => Uint8Array | undefined;
}

export function createTranslator(schema: Schema, kinds: readonly DescribedKind[]): Translator {
  const types = new Map(kinds.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind.type] as const));
  const shapeOf = (apiVersion: string, kind: string): Struct | undefined => {
    // These two come under the version of whatever they are about.
    const shared = kind === "Status" || kind === "DeleteOptions" ? `meta.v1.${kind}` : undefined;
    const type = shared ?? types.get(`${apiVersion} ${kind}`);
    const shape = type === undefined ? undefined : schema.shape(type);
    return shape?.kind === "struct" ? shape : undefined;
  };
  const toProtobuf = (document: JsonObject): Uint8Array | undefined => {
    const kind = stringAt(document, "kind");
    const apiVersion = stringAt(document, "apiVersion");
    const { items } = document;
    if (isJsonArray(items)) {
      const shape = shapeOf(apiVersion, kind.replace(/List$/, ""));
      return shape === undefined
        ? undefined
        : wrap({ apiVersion, kind, message: encodeList(schema, shape, document, items) });
    }
    const shape = shapeOf(apiVersion, kind);
    return shape === undefined ? undefined : wrap({ apiVersion, kind, message: encodeMessage(shape, document) });
  };
  return {
    toProtobuf,
    toJson: (document) => {
      const { apiVersion, kind, message } = unwrap(document);
      const shape = shapeOf(apiVersion, kind);
      if (shape === undefined) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
      return { ...decodeMessage(shape, message), kind, apiVersion };
    },
    toFrame: (event) => {
      const { object } = event;
      const document = isJsonObject(object) ? toProtobuf(object) : undefined;
      return document === undefined ? undefined : watchFrame(stringAt(event, "type"), document);
    },
  };
}

type Struct = Extract<Shape, { kind: "struct" }>;

/** Lists of every kind are alike: their metadata under number 1, the items under number 2. */
function encodeList(schema: Schema, item: Struct, document: JsonObject, items: readonly Json[]): Uint8Array {
  const writer = new MessageWriter();
  const meta = schema.shape("meta.v1.ListMeta");
  const { metadata } = document;
  if (meta.kind === "struct" && isJsonObject(metadata)) writer.bytes(1, encodeMessage(meta, metadata));
  for (const element of items) writer.bytes(2, encodeMessage(item, isJsonObject(element) ? element : {}));
  return writer.finish();
}
