import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** A span as a collector gets it. Ids are hexadecimal. */
export interface ReceivedSpan {
  /** Of the resource. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** "" for the first of a trace. */
  readonly parentSpanId: string;
  readonly kind: "internal" | "server" | "client" | "other";
  readonly attributes: Readonly<Record<string, string>>;
  /** Ids of the spans it is linked to. */
  readonly links: readonly string[];
  readonly status: "unset" | "ok" | "error" | "other";
  readonly statusMessage: string;
}

/** Spans of an ExportTraceServiceRequest (opentelemetry-proto 1.9, trace.proto): read by hand, so that the library does not vouch for itself. */
export function readSpans(bytes: Uint8Array): readonly ReceivedSpan[] {
  return fieldsOf(bytes).messages(1).flatMap(readResourceSpans);
}

function readResourceSpans(bytes: Uint8Array): readonly ReceivedSpan[] {
  const fields = fieldsOf(bytes);
  const resource = Object.assign({}, ...fields.messages(1).map((message) => readAttributes(message, 1)));
  const service = String(resource["service.name"]);
  return fields.messages(2).flatMap((scope) =>
    fieldsOf(scope)
      .messages(2)
      .map((span) => readSpan(span, service)),
  );
}

/** By their numbers. */
const KINDS = ["other", "internal", "server", "client"] as const;
const STATUSES = ["unset", "ok", "error"] as const;

function readSpan(bytes: Uint8Array, service: string): ReceivedSpan {
  const fields = fieldsOf(bytes);
  const status = fieldsOf(fields.messages(15)[0] ?? new Uint8Array());
  return {
    service,
    name: fields.text(5),
    traceId: fields.hex(1),
    spanId: fields.hex(2),
    parentSpanId: fields.hex(4),
    kind: KINDS[fields.number(6)] ?? "other",
    attributes: readAttributes(bytes, 9),
    links: fields.messages(13).map((link) => fieldsOf(link).hex(2)),
    status: STATUSES[status.number(3)] ?? "other",
    statusMessage: status.text(2),
  };
}

/** KeyValue messages in the field of that number. Arrays and the like are left empty: nothing here has any. */
function readAttributes(bytes: Uint8Array, field: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fieldsOf(bytes)
      .messages(field)
      .map((pair) => {
        const fields = fieldsOf(pair);
        const value = fieldsOf(fields.messages(2)[0] ?? new Uint8Array());
        const number = value.numbers(2).at(0) ?? value.numbers(3).at(0);
        return [fields.text(1), number === undefined ? value.text(1) : String(number)];
      }),
  );
}

interface Fields {
  messages(field: number): readonly Uint8Array[];
  numbers(field: number): readonly number[];
  /** The last one, as protobuf has it; 0 without any. */
  number(field: number): number;
  text(field: number): string;
  hex(field: number): string;
}

/** The fields of one message: those with a length and varints. */
function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const lengths: { readonly field: number; readonly bytes: Uint8Array }[] = [];
  const varints: { readonly field: number; readonly value: number }[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) lengths.push({ field, bytes: reader.bytes() });
    else if (type === WireType.Varint) varints.push({ field, value: Number(reader.int64()) });
    else reader.skip(type);
  }
  const messages = (wanted: number): readonly Uint8Array[] =>
    lengths.filter(({ field }) => field === wanted).map((entry) => entry.bytes);
  const numbers = (wanted: number): readonly number[] =>
    varints.filter(({ field }) => field === wanted).map(({ value }) => value);
  const buffer = (field: number): Buffer => Buffer.from(messages(field).at(-1) ?? new Uint8Array());
  return {
    messages,
    numbers,
    number: (field) => numbers(field).at(-1) ?? 0,
    text: (field) => buffer(field).toString("utf8"),
    hex: (field) => buffer(field).toString("hex"),
  };
}
