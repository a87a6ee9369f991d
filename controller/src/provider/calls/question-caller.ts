import { isRecord } from "../../util/json.ts";
import { type Rpc, RPCS } from "../convert/methods.ts";
import type { RpcCaller } from "../connection/transport.ts";

/** The last word on the wire of a process that observes only: no change leaves it but as a question what it would do. */
export function onlyQuestions(caller: RpcCaller): RpcCaller {
  return {
    unary: (rpc, request, options) => {
      if (mayChangeCloud(rpc) && !isQuestion(request)) {
        return Promise.reject(new TypeError(`${rpc.name} was not sent: this process only observes (--mode)`));
      }
      return caller.unary(rpc, request, options);
    },
  };
}

/** Node sets are the provider's memory, not its cloud. */
function mayChangeCloud({ isChange, name }: Pick<Rpc<unknown, unknown>, "isChange" | "name">): boolean {
  return isChange && name !== RPCS.applyNodeSet.name;
}

function isQuestion(request: unknown): boolean {
  return isRecord(request) && isRecord(request["change"]) && request["change"]["validateOnly"] === true;
}
