import type { Clock } from "../../util/clock.ts";
import type { CallJournal } from "../../explain/history/call-journal.ts";
import { itemFailures, subjectsOf } from "./call-subjects.ts";
import { asProviderError } from "../model/errors.ts";
import type { Rpc } from "../convert/methods.ts";
import type { RpcCaller, RpcOptions } from "../connection/transport.ts";

export interface JournalledDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly journal: CallJournal;
  readonly clock: Clock;
}

/** Calls as `caller` makes them, each remembered for a while for those who ask what was done for an object. */
export function journalled(caller: RpcCaller, { provider, journal, clock }: JournalledDeps): RpcCaller {
  return {
    async unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      const startMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const common = () => ({ startMs, provider, rpc: rpc.name, durationMs: clock.monotonicMs() - startedMs });
      try {
        const response = await caller.unary(rpc, request, options);
        const cloudRequestIds = rpc.stats(response)?.cloudRequestIds ?? [];
        const subjects = subjectsOf(rpc, request);
        const call = { ...common(), code: "OK", reason: "", message: "", cloudRequestIds };
        journal.note(call, subjects, itemFailures(subjects, response));
        return response;
      } catch (error) {
        const failure = asProviderError(error);
        const { code, reason, message, cloudRequestIds } = failure;
        // Whoever asked has gone: nothing was learnt.
        if (!options.signal.aborted) {
          journal.note({ ...common(), code, reason, message, cloudRequestIds }, subjectsOf(rpc, request), undefined);
        }
        throw failure;
      }
    },
  };
}
