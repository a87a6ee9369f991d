import { BadRequest, ErrorInfo, QuotaFailure, RetryInfo } from "../gen/google/rpc/error_details.ts";
import { Status } from "../gen/google/rpc/status.ts";

/** Returns one detail of an error as JSON: `@type` and its fields; for an unknown type its bytes in base64. */
export type DetailJson = Readonly<Record<string, unknown>>;

interface Codec {
  readonly toJson: (bytes: Uint8Array) => unknown;
  readonly fromJson: (json: unknown) => Buffer;
}

const codec = <Message>(type: {
  readonly decode: (bytes: Uint8Array) => Message;
  readonly encode: (message: Message) => { readonly finish: () => Uint8Array };
  readonly toJSON: (message: Message) => unknown;
  readonly fromJSON: (json: unknown) => Message;
}): Codec => ({
  toJson: (bytes) => type.toJSON(type.decode(bytes)),
  fromJson: (json) => Buffer.from(type.encode(type.fromJSON(json)).finish()),
});

const CODECS: ReadonlyMap<string, Codec> = new Map([
  ["google.rpc.ErrorInfo", codec(ErrorInfo)],
  ["google.rpc.RetryInfo", codec(RetryInfo)],
  ["google.rpc.BadRequest", codec(BadRequest)],
  ["google.rpc.QuotaFailure", codec(QuotaFailure)],
]);

const PREFIX = "type.googleapis.com/";

/** Returns the details in the trailer `grpc-status-details-bin`; none if its bytes are not a Status. */
export const detailsToJson = (bytes: Uint8Array): readonly DetailJson[] => {
  try {
    return Status.decode(bytes).details.map(({ typeUrl, value }) => {
      const type = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
      const json = CODECS.get(type)?.toJson(value);
      return typeof json === "object" && json !== null
        ? { "@type": type, ...json }
        : { "@type": type, bytes: Buffer.from(value).toString("base64") };
    });
  } catch {
    return [];
  }
};

/** Returns the trailer `grpc-status-details-bin` for a result of {@link detailsToJson}. */
export const detailsFromJson = (code: number, message: string, details: readonly DetailJson[]): Uint8Array =>
  Status.encode({
    code,
    message,
    details: details.map(({ "@type": type, ...fields }) => {
      const known = CODECS.get(String(type));
      const { bytes } = fields;
      const value = known?.fromJson(fields) ?? Buffer.from(typeof bytes === "string" ? bytes : "", "base64");
      return { typeUrl: `${PREFIX}${String(type)}`, value };
    }),
  }).finish();
