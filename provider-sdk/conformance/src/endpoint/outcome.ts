import { errorText } from "../error-text.ts";
import { codeNames } from "@cloudwire/proto/codes";
import { cutFrames } from "./frames.ts";
import { maxAnswerBytes, type WireAnswer } from "./connection.ts";
import { headerText, parseError, type WireError } from "./status.ts";

/** How a call ended. */
export type Outcome<Response> =
  | { readonly kind: "ok"; readonly response: Response; readonly bytes: Buffer; readonly wire: WireAnswer }
  | { readonly kind: "error"; readonly error: WireError; readonly wire: WireAnswer }
  /** There is no answer that gRPC would know. */
  | { readonly kind: "broken"; readonly broken: string; readonly wire: WireAnswer };

/** Reads how a stream of answers ended; its messages were read before. */
export const toEnd = (wire: WireAnswer): Outcome<undefined> => {
  const broken = (why: string): Outcome<undefined> => ({ kind: "broken", broken: why, wire });
  if (wire.broken !== undefined) return broken(wire.broken);
  const status = headerText(wire.trailers, "grpc-status") ?? "";
  const code = /^\d{1,2}$/.test(status) ? Number(status) : Number.NaN;
  if (codeNames[code] === undefined) return broken(`grpc-status is "${status}", which is no code of gRPC`);
  if (code !== 0) return { kind: "error", error: parseError(code, wire.trailers), wire };
  return { kind: "ok", response: undefined, bytes: wire.body, wire };
};

/** Reads a unary answer. */
export const toOutcome = <Response>(wire: WireAnswer, decode: (bytes: Uint8Array) => Response): Outcome<Response> => {
  const broken = (why: string): Outcome<Response> => ({ kind: "broken", broken: why, wire });
  const end = toEnd(wire);
  if (end.kind !== "ok") return end;
  const { messages, rest, problem } = cutFrames(wire.body, maxAnswerBytes);
  const [bytes] = messages;
  if (problem !== undefined) return broken(`the body is not gRPC: ${problem}`);
  if (bytes === undefined || messages.length > 1 || rest.length > 0)
    return broken(`an OK answer holds exactly one message, not ${messages.length} and ${rest.length} bytes`);
  try {
    return { kind: "ok", response: decode(bytes), bytes, wire };
  } catch (cause) {
    return broken(`the answer is no valid protobuf message: ${errorText(cause)}`);
  }
};
