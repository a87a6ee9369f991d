import type { Clock } from "../../util/clock.ts";
import type { CallBudget } from "../limits/call-budget.ts";
import type { CallContext, CallId, CallIds, ChangeContext, Rpc } from "../convert/methods.ts";
import type { CallOptions, ChangeNumbers, ChangeOptions } from "../model/client.ts";
import type { ProviderConnection } from "../connection/connection.ts";
import { notConnectedError, scopeMessage } from "../connection/state.ts";
import type { AnswerContext } from "../convert/instance.ts";
import { asProviderError, contractError, hasReason, type ProviderError } from "../model/errors.ts";
import type { RateLimitedCaller } from "../limits/rate-limited-caller.ts";
import type { Absence } from "../model/instance.ts";
import type { Capabilities, Limits, ProviderInfo } from "../model/info.ts";

export interface SessionDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly connection: ProviderConnection;
  readonly governed: RateLimitedCaller;
  readonly budget: CallBudget;
  readonly ids: CallIds;
  readonly numbers: ChangeNumbers;
  readonly clock: Clock;
}

/** An answer and what it was the answer to. */
export interface Answered<Response> {
  readonly response: Response;
  readonly requestId: string;
  /** The handshake that was in force when the call was made. */
  readonly info: ProviderInfo;
  /** Age of the oldest data in the answer; undefined: not said. */
  readonly dataAgeMs: number | undefined;
}

/** Calls to one provider with everything on them that every call carries, and the checks that every answer gets. */
export class Session {
  readonly #deps: SessionDeps;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  get provider(): string {
    return this.#deps.provider;
  }

  get info(): ProviderInfo | undefined {
    return this.#deps.connection.info;
  }

  get budget(): CallBudget {
    return this.#deps.budget;
  }

  get clock(): Clock {
    return this.#deps.clock;
  }

  /** What the provider said about that group of calls; rejects when it is not connected or does not serve them. */
  async capability<Group extends keyof Capabilities>(
    group: Group,
    signal: AbortSignal,
  ): Promise<NonNullable<Capabilities[Group]>> {
    const { capabilities } = await this.#admitted({ isChange: false }, signal);
    const capability = capabilities[group];
    if (capability !== undefined && capability !== null) return capability;
    throw contractError("CAPABILITY_ABSENT", `provider ${this.provider} does not serve ${group}`);
  }

  async limits(signal: AbortSignal): Promise<Limits> {
    const { limits } = await this.#admitted({ isChange: false }, signal);
    return limits;
  }

  async call<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: (context: CallContext) => Request,
    { signal, priority = "high" }: CallOptions,
    id: CallId & Pick<ChangeOptions, "refuse"> = this.#deps.ids.next(),
  ): Promise<Answered<Response>> {
    const info = await this.#admitted(rpc, signal);
    const message = request(this.#deps.connection.context(info));
    // Reads are split long before.
    if (rpc.isChange) this.#refuseTooLarge(rpc, message, info.limits.maxReceiveBytes);
    const response = await this.#deps.governed.call(rpc, message, { signal, priority, ...id });
    return { response, requestId: id.requestId, info, dataAgeMs: rpc.stats(response)?.dataAgeMs };
  }

  /** A call that may change the cloud. */
  async change<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: (context: CallContext, change: ChangeContext) => Request,
    options: ChangeOptions,
  ): Promise<Answered<Response>> {
    const { validateOnly = false, trigger = "", refuse } = options;
    const fresh = this.#deps.ids.next();
    const requestId = options.requestId ?? fresh.requestId;
    const id = { ...fresh, requestId, ...(refuse === undefined ? {} : { refuse }) };
    // Numbered before it waits for its turn: by the time it is sent another may lead. A question changes nothing and overtakes nobody.
    const sequence = validateOnly ? 0n : this.#deps.numbers.next();
    const change: ChangeContext = { requestId: id.requestId, validateOnly, trigger, sequence };
    try {
      return await this.call(rpc, (context) => request(context, change), options, id);
    } catch (error) {
      throw this.judged(asProviderError(error));
    }
  }

  /** An error of a change, or of one item of it. */
  judged(error: ProviderError): ProviderError {
    if (hasReason(error, "STALE_GENERATION")) this.#deps.numbers.rejected(error);
    return error;
  }

  /** Messages of a stream, from now or from where `request` says. */
  async *stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: (context: CallContext) => Request,
    signal: AbortSignal,
  ): AsyncGenerator<Response, void, undefined> {
    const info = await this.#admitted(rpc, signal);
    const { connection, ids } = this.#deps;
    yield* connection.stream(rpc, request(connection.context(info)), { signal, ...ids.next() });
  }

  /** What an answer's items are judged by. */
  answerContext({ info, requestId, dataAgeMs }: Answered<unknown>): AnswerContext {
    const { scopeId, bootId } = info;
    const witness = { provider: this.provider, scopeId, bootId, receivedAtMs: this.clock.nowMs() };
    return { witness, requestId, dataAgeMs };
  }

  /** Why an answer that was read from `scopeId` must not be believed; undefined when it may. */
  scopeProblem({ info, requestId }: Answered<unknown>, scopeId: string): ProviderError | undefined {
    if (scopeId === info.scopeId) return undefined;
    const why = `answered from scope "${scopeId}", but its handshake says "${info.scopeId}"`;
    this.#deps.connection.renew(`the provider ${why}`);
    return contractError("SCOPE_MISMATCH", `provider ${this.provider} ${why}`, { requestId });
  }

  /** Why that absence must not be believed now; undefined when it may. */
  absenceProblem(absence: Absence): ProviderError | undefined {
    const change = this.#deps.connection.scopeChange;
    if (change === undefined) return undefined;
    const message = `provider ${absence.witness.provider} answers "absent", but ${scopeMessage(change)}`;
    return contractError("SCOPE_MISMATCH", message);
  }

  #refuseTooLarge<Request>(rpc: Rpc<Request, unknown>, message: Request, maxBytes: number): void {
    const bytes = rpc.request.encode(message).finish().length;
    if (bytes <= maxBytes) return;
    const why = `the request has ${bytes} bytes, and it takes at most ${maxBytes} (limits.max_receive_bytes)`;
    throw contractError("FIELD_TOO_LARGE", `provider ${this.provider}: ${rpc.name} was not sent: ${why}`);
  }

  async #admitted(rpc: { readonly isChange: boolean }, signal: AbortSignal): Promise<ProviderInfo> {
    const { connection } = this.#deps;
    await connection.admit(rpc, signal);
    const { info } = connection;
    if (info === undefined) throw notConnectedError(this.provider, connection.state);
    return info;
  }
}
