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
    what: "counts the lines of a process: 1 is its head, and a gap says that lines are lost",
  },
  atMs: {
    type: "number",
    schema: { type: "number", minimum: 0 },
    when: "",
    what: "milliseconds since the recording was opened, by a clock that does not jump",
  },
  time: {
    type: "time",
    schema: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" },
    when: "",
    what: "the same moment by the wall clock, UTC",
  },
};

const OF_CALL: Fields = {
  call: {
    type: "number",
    schema: natural,
    when: "",
    what: "the call, by the order in which calls began: 1 is the first",
  },
  provider: { type: "text", schema: text, when: "", what: "name that `--provider` gives the provider" },
  method: { type: "text", schema: { enum: METHODS }, when: "", what: "RPC of the contract" },
};

const OF_ANSWER: Fields = {
  response: {
    type: "object",
    schema: { type: "object" },
    when: "there is a message",
    what: "the answer, as JSON without secrets",
  },
  inexact: {
    type: "true",
    schema: { const: true },
    when: "so",
    what: "`response` lacks something that the bytes had: a field or a value of a newer contract, a time finer than a millisecond; or the fields came in another order",
  },
};

/** Each kind of line with what it says, and the fields that it has beside those of every line. */
export const RECORDING_KINDS: Readonly<Record<string, { readonly what: string; readonly fields: Fields }>> = {
  head: {
    what: "The first line of a process. A file has as many recordings as it has heads.",
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
        what: "the providers that it was told to call",
      },
    },
  },
  begin: {
    what: "A call is sent. A call that is tried again is another call.",
    fields: {
      ...OF_CALL,
      requestId: { type: "text", schema: text, when: "", what: "one call, by the same id in the logs of both sides" },
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
    what: "A call has ended. A call without this line had not when the recording ended.",
    fields: {
      ...OF_CALL,
      code: { type: "text", schema: { enum: [...codeNames] }, when: "", what: "`OK`, or a gRPC code" },
      message: { type: "text", schema: anyText, when: "`code` is not `OK`", what: "what the error says" },
      details: {
        type: "list of objects",
        schema: { type: "array", items: { type: "object", required: ["@type"] } },
        when: "the error has some",
        what: "`google.rpc` details by `@type`; of a type that is not known its `bytes` in base64. An error without any was made by the transport, not by the provider",
      },
      givenUp: {
        type: "true",
        schema: { const: true },
        when: "so",
        what: "the controller gave the call up; what the provider would have answered is not known",
      },
      ...OF_ANSWER,
    },
  },
  lost: {
    what: "Lines are missing before this one: too many waited for a file that could not be written.",
    fields: { lines: { type: "number", schema: natural, when: "", what: "how many" } },
  },
  full: { what: "The file has its size; nothing more was recorded.", fields: {} },
  tail: { what: "The process ended in order: the recording is whole.", fields: {} },
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
