import { type FieldRules, withoutSecrets } from "@cloudwire/proto/secrets";
import { currentWork } from "../../observe/work.ts";
import type { Clock } from "../../util/clock.ts";
import { auditLine, type AuditedCall, type AuditLine } from "./audit.ts";
import { asProviderError } from "../model/errors.ts";
import { type Rpc, requestMessage, responseMessage } from "../convert/methods.ts";
import type { RpcCaller, RpcOptions } from "../connection/transport.ts";

/** Takes a line for each change. Never blocks, never throws. */
export interface ChangeAudit {
  write(line: AuditLine): void;
  /** A line could not be made. */
  lose(error: unknown): void;
}

export interface AuditedDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly audit: ChangeAudit;
  readonly clock: Clock;
  /** Which fields are secrets. @default the contract says it */
  readonly rules?: FieldRules;
}

/** Calls as `caller` makes them; each that may change something is a line of the audit log when it has ended. */
export function audited(caller: RpcCaller, { provider, audit, clock, rules }: AuditedDeps): RpcCaller {
  return {
    async unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      if (!rpc.isChange) return caller.unary(rpc, request, options);
      const work = currentWork();
      const startMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const note = (outcome: () => AuditedCall["outcome"]): void => {
        const durationMs = clock.monotonicMs() - startedMs;
        const { requestId } = options;
        try {
          const shown = withoutSecrets(requestMessage(rpc.name), rpc.request.toJSON(request), rules);
          const call = { provider, method: rpc.name, requestId, work, startMs, durationMs, request: shown };
          audit.write(auditLine({ ...call, outcome: outcome() }));
        } catch (error) {
          audit.lose(error);
        }
      };
      try {
        const response = await caller.unary(rpc, request, options);
        note(() => ({ response: withoutSecrets(responseMessage(rpc.name), rpc.response.toJSON(response), rules) }));
        return response;
      } catch (error) {
        const failure = asProviderError(error);
        note(() => ({ error: failure }));
        throw failure;
      }
    },
  };
}
