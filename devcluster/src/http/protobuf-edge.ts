import { notAcceptable, statusOf } from "../api-error.ts";
import { type Json, type JsonObject, isJsonObject } from "../json.ts";
import type { Translator } from "../protobuf/translator.ts";
import { ProtobufError } from "../protobuf/wire.ts";
import { parseAccept } from "./negotiate.ts";
import type { Reply } from "./reply.ts";
import { type ApiRequest, type RawRequest, contentTypeOf, headerOf } from "./request.ts";

/** The media type of Kubernetes protobuf. */
const protobuf = "application/vnd.kubernetes.protobuf";
const json = "application/json";

/** A request as the handlers see it, or why it cannot be read. */
export type ReadRequest =
  | { readonly kind: "request"; readonly request: ApiRequest }
  | { readonly kind: "unreadable"; readonly why: string };

/** Behind this edge everything is JSON: turns a protobuf body into the JSON that it stands for. */
export function readRequest(translator: Translator, raw: RawRequest): ReadRequest {
  if (contentTypeOf(raw) !== protobuf || raw.body.length === 0) {
    return { kind: "request", request: { ...raw, body: Buffer.from(raw.body).toString() } };
  }
  try {
    const body = JSON.stringify(translator.toJson(raw.body));
    return { kind: "request", request: { ...raw, headers: { ...raw.headers, "content-type": json }, body } };
  } catch (error) {
    if (error instanceof ProtobufError) return { kind: "unreadable", why: error.message };
    throw error;
  }
}

/** Answers in protobuf when that is what the client likes best, and in JSON what has no protobuf form and is taken as JSON too. */
export function answerInFormat(
  translator: Translator,
  request: ApiRequest,
  answer: (request: ApiRequest) => Reply,
): Reply {
  const types = parseAccept(headerOf(request, "accept"));
  const usable = types.filter(({ type, parameters }) => type !== protobuf || !parameters.has("as"));
  if (usable[0]?.type !== protobuf) return answer(request);
  const takesJson = usable.some(({ type }) => type !== protobuf);
  const reply = answer({ ...request, headers: { ...request.headers, accept: json } });
  return translate(translator, reply) ?? (takesJson ? reply : untranslatable());
}

function translate(translator: Translator, reply: Reply): Reply | undefined {
  switch (reply.kind) {
    case "json": {
      const document = translator.toProtobuf(parse(reply.body));
      if (document === undefined) return undefined;
      const { status, warnings = [] } = reply;
      return { kind: "binary", status, contentType: protobuf, body: document, warnings };
    }
    case "stream":
      return {
        kind: "stream",
        contentType: `${protobuf};stream=watch`,
        start: (stream) =>
          reply.start({
            ...stream,
            write: (event) => {
              const frame = typeof event === "string" ? translator.toFrame(parse(event)) : event;
              if (frame !== undefined) stream.write(frame);
            },
          }),
      };
    case "text":
    case "binary":
      return reply;
    default:
      return reply satisfies never;
  }
}

function parse(text: string): JsonObject {
  const document: Json = JSON.parse(text);
  return isJsonObject(document) ? document : {};
}

function untranslatable(): Reply {
  const error = notAcceptable(`only the following media types are accepted: ${json}`);
  return { kind: "json", status: error.code, body: JSON.stringify(statusOf(error)) };
}
