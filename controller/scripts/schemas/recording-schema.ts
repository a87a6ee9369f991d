import { codeNames } from "@cloudwire/proto/codes";
import { methodRules } from "@cloudwire/proto/methods";
import { RECORDING_FORMAT, RECORDING_VERSION } from "../../src/telemetry/recording-log.ts";

/** A JSON Schema, draft 7: what editors know best. */
interface Schema {
  readonly [keyword: string]: unknown;
}

/** One field of a line. */
export interface RecordingField {
  /** For the page. */
  readonly type: string;
  readonly schema: Schema;
  /** When it is there; "": always. */
  readonly when: string;
  readonly what: string;
}

type Fields = Readonly<Record<string, RecordingField>>;

const text: Schema = { type: "string", minLength: 1 };
const anyText: Schema = { type: "string" };
const natural: Schema = { type: "integer", minimum: 1 };
const METHODS = Object.keys(methodRules);

/** On every line. */
export const COMMON_FIELDS: Fields = {
  line: {
    type: "number",
    schema: natural,
    when: "",
    what: "number of the line within the process; 1 is the header, and a gap means that lines were dropped",
  },
  atMs: {
    type: "number",
    schema: { type: "number", minimum: 0 },
    when: "",
    what: "milliseconds since the recording was opened, by a monotonic clock",
  },
  time: {
    type: "time",
    schema: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" },
    when: "",
    what: "wall-clock time of the line, UTC",
  },
};

const OF_CALL: Fields = {
  call: {
    type: "number",
    schema: natural,
    when: "",
    what: "number of the call in the order of starts; 1 is the first",
  },
  provider: { type: "text", schema: text, when: "", what: "name that `--provider` gives the provider" },
  method: { type: "text", schema: { enum: METHODS }, when: "", what: "RPC of the contract" },
};

const OF_ANSWER: Fields = {
  response: {
    type: "object",
    schema: { type: "object" },
    when: "there is a message",
    what: "the response, as JSON without secrets",
  },
  lossy: {
    type: "true",
    schema: { const: true },
    when: "it applies",
    what: "`response` differs from the bytes on the wire: it lacks a field or a value of a newer contract, or a time finer than a millisecond, or the fields were in another order",
  },
};

/** Each kind of line, with its fields in addition to {@link COMMON_FIELDS}. */
export const RECORDING_KINDS: Readonly<Record<string, { readonly what: string; readonly fields: Fields }>> = {
  header: {
    what: "The first line of a process. A file has one recording per header.",
    fields: {
      format: { type: "text", schema: { const: RECORDING_FORMAT }, when: "", what: `\`${RECORDING_FORMAT}\`` },
      version: { type: "number", schema: { const: RECORDING_VERSION }, when: "", what: `${RECORDING_VERSION}` },
      contract: { type: "text", schema: text, when: "", what: "`cloudprovider.v1`" },
      program: { type: "text", schema: text, when: "", what: "program and version that recorded" },
      providers: {
        type: "list of objects with `name`, `address`",
        schema: {
          type: "array",
          items: {
            type: "object",
            properties: { name: text, address: text },
            required: ["name", "address"],
            additionalProperties: false,
          },
        },
        when: "",
        what: "the configured providers",
      },
    },
  },
  start: {
    what: "A call is sent. A retry is another call.",
    fields: {
      ...OF_CALL,
      requestID: {
        type: "text",
        schema: text,
        when: "",
        what: "ID of the call, the same in the logs of the controller and the provider",
      },
      timeoutMs: {
        type: "number",
        schema: { type: "number", exclusiveMinimum: 0 },
        when: "the call has a deadline; a stream has none",
        what: "the deadline",
      },
      request: { type: "object", schema: { type: "object" }, when: "", what: "the request, as JSON without secrets" },
    },
  },
  message: { what: "A message of a stream.", fields: { ...OF_CALL, ...OF_ANSWER } },
  end: {
    what: "A call has ended. Without this line, the call was still in progress at the end of the recording.",
    fields: {
      ...OF_CALL,
      code: { type: "text", schema: { enum: [...codeNames] }, when: "", what: "`OK`, or a gRPC code" },
      message: { type: "text", schema: anyText, when: "`code` is not `OK`", what: "message of the error" },
      details: {
        type: "list of objects",
        schema: { type: "array", items: { type: "object", required: ["@type"] } },
        when: "the error has details",
        what: "`google.rpc` details by `@type`; details of unknown types have their `bytes` in base64. An error without details comes from the transport, not from the provider",
      },
      cancelled: {
        type: "true",
        schema: { const: true },
        when: "it applies",
        what: "the controller canceled the call; the response of the provider is unknown",
      },
      ...OF_ANSWER,
    },
  },
  dropped: {
    what: "Lines were dropped before this one: too many were queued for a file that could not be written.",
    fields: { lines: { type: "number", schema: natural, when: "", what: "number of dropped lines" } },
  },
  sizeLimit: { what: "The file reached its size limit; recording stopped.", fields: {} },
  footer: { what: "The process shut down cleanly; the recording is complete.", fields: {} },
};

/** The schema of one line. */
export function recordingSchema(): Schema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $comment: "Generated by npm run gen from controller/scripts/schemas/recording-schema.ts. Do not edit.",
    title: "A line of a recording of cloudwire-controller-manager",
    oneOf: Object.entries(RECORDING_KINDS).map(([kind, { what, fields }]) => kindSchema(kind, what, fields)),
  };
}

function kindSchema(kind: string, description: string, fields: Fields): Schema {
  const all = Object.entries({ ...COMMON_FIELDS, ...fields });
  return {
    description,
    type: "object",
    properties: {
      kind: { const: kind },
      ...Object.fromEntries(all.map(([name, { schema, what }]) => [name, { description: what, ...schema }])),
    },
    required: ["kind", ...all.filter(([, { when }]) => when === "").map(([name]) => name)],
    additionalProperties: false,
  };
}
