import { methodRules } from "@cloudwire/proto/methods";
import { type FieldRules, withoutSecrets } from "@cloudwire/proto/secrets";
import { detailsToJson } from "@cloudwire/proto/status-details";
import type { RecordingSink } from "../../telemetry/recording-log.ts";
import { codeName } from "../model/errors.ts";
import {
  type Codec,
  type Rpc,
  type RecordedCall,
  type RecordedOptions,
  type WireStatus,
  type WireRecorder,
  requestMessage,
  responseMessage,
} from "../convert/methods.ts";

export interface RecorderDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly sink: RecordingSink;
  /** Secret fields. @default the contract's */
  readonly rules?: FieldRules;
}

interface Answer {
  readonly response: unknown;
  /** The JSON does not represent all bytes of the message. */
  readonly lossy?: true;
}

/** Records the messages of one provider without secrets. */
export function wireRecorder({ provider, sink, rules }: RecorderDeps): WireRecorder {
  return {
    begin<Request, Response>(
      rpc: Rpc<Request, Response>,
      request: Request,
      { requestId, timeoutMs }: RecordedOptions,
    ): RecordedCall<Response> {
      const method = rpc.name;
      const call = { call: sink.nextCall(), provider, method };
      const write = (entry: () => object): void => {
        try {
          sink.write(entry());
        } catch (error) {
          sink.drop(error);
        }
      };
      write(() => ({
        kind: "start",
        ...call,
        requestID: requestId,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        request: withoutSecrets(requestMessage(method), rpc.request.toJSON(request), rules),
      }));
      let only: Answer | undefined;
      return {
        message: (response, bytes) => {
          if (methodRules[method].stream) {
            return write(() => ({ kind: "message", ...call, ...answer(rpc, response, bytes, rules) }));
          }
          try {
            only = answer(rpc, response, bytes, rules);
          } catch (error) {
            sink.drop(error);
          }
        },
        end: (status) => write(() => ({ kind: "end", ...call, ...statusFields(status), ...only })),
      };
    },
  };
}

function answer<Request, Response>(
  rpc: Rpc<Request, Response>,
  response: Response,
  bytes: Uint8Array,
  rules: FieldRules | undefined,
): Answer {
  const json = withoutSecrets(responseMessage(rpc.name), rpc.response.toJSON(response), rules);
  return { response: json, ...(isExact(rpc.response, response, bytes) ? {} : { lossy: true }) };
}

/** The JSON lacks fields of a newer contract, unknown enum values, and times finer than a millisecond. */
function isExact<Message>(codec: Codec<Message>, message: Message, bytes: Uint8Array): boolean {
  return Buffer.compare(codec.encode(message).finish(), bytes) === 0;
}

function statusFields({ code, message, details, isGivenUp }: WireStatus): object {
  if (code === 0) return { code: "OK" };
  const decoded = details === undefined ? [] : detailsToJson(details);
  const more = decoded.length === 0 ? {} : { details: decoded };
  return { code: codeName(code), message, ...more, ...(isGivenUp ? { cancelled: true } : {}) };
}
