import { type CallContext, ProviderError } from "@cloudwire/provider-sdk";
import { CloudClient } from "../client/cloud-client.ts";
import { AnswerChecks, type CallOutcome } from "../client/http.ts";
import { toProviderError } from "./errors.ts";

export interface CloudAccessOptions {
  readonly url: string;
  /** The current key, read for every call, so that a new key needs no restart. */
  readonly apiKey: () => string;
  /** Longest time of one call of the cloud. */
  readonly callTimeoutMs: number;
}

/** What a call of the cloud is made for: RPCs and background checks have it. */
export interface CallScope {
  readonly signal: AbortSignal;
  readonly recordCloudCall?: CallContext["recordCloudCall"];
}

/** The way to the cloud: every call has a deadline, is counted, and fails with an error of the contract. */
export interface CloudAccess {
  /** For resources within answers. */
  readonly checks: AnswerChecks;
  /**
   * @param waitMs how long the cloud itself waits before it answers
   * @throws ProviderError
   */
  readonly ask: <T>(
    callScope: CallScope,
    call: (client: CloudClient, signal: AbortSignal) => Promise<T>,
    waitMs?: number,
  ) => Promise<T>;
  /**
   * Refuses an answer about another account than the one that the first call was answered for: the key has been given
   * to another account, and its response proves no absence in ours.
   */
  readonly requireOwn: (answer: { readonly account: string }) => void;
  /** The account that the key belongs to; as long as none was answered, nothing is known. */
  readonly account: (callScope: CallScope) => Promise<string>;
}

export function createCloudAccess({ url, apiKey, callTimeoutMs }: CloudAccessOptions): CloudAccess {
  let known: string | undefined;
  const checks = new AnswerChecks();
  const ask: CloudAccess["ask"] = async (callScope, call, waitMs = 0) => {
    const outcomes: CallOutcome[] = [];
    const client = new CloudClient({ url, apiKey: apiKey(), checks, observe: (outcome) => outcomes.push(outcome) });
    const signal = AbortSignal.any([callScope.signal, AbortSignal.timeout(callTimeoutMs + waitMs)]);
    try {
      return await call(client, signal);
    } catch (error) {
      throw toProviderError(error);
    } finally {
      for (const { error, ...outcome } of outcomes) {
        callScope.recordCloudCall?.(error ? { ...outcome, error: toProviderError(error) } : outcome);
      }
    }
  };
  return {
    checks,
    ask,
    requireOwn: ({ account }) => {
      known ??= account;
      if (account === known) return;
      const message = `the API key now belongs to account ${account}, this provider works in ${known}`;
      throw new ProviderError("SCOPE_MISMATCH", message);
    },
    account: async (callScope) => {
      const { id } = await ask(callScope, async (client, signal) => client.account(signal));
      known = id;
      return id;
    },
  };
}
