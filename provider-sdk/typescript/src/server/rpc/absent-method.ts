import { ProviderError } from "../../results/errors.ts";
import type { RpcMethod } from "./method.ts";

/** A method of a capability that is not claimed: refused whatever the request says. */
export const absentMethod = (method: {
  readonly name: string;
  readonly responseStream: boolean;
  readonly options: { readonly idempotencyLevel?: string };
}): RpcMethod => {
  const refuse = (): never => {
    throw new ProviderError("CAPABILITY_ABSENT", `This provider does not serve ${method.name}; its handshake says so`);
  };
  const facts = { name: method.name, mutation: method.options.idempotencyLevel !== "NO_SIDE_EFFECTS" };
  return method.responseStream
    ? { ...facts, kind: "serverStream", open: refuse }
    : { ...facts, kind: "unary", open: refuse };
};
