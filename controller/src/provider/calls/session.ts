import type { Clock } from "../../util/clock.ts";
import type { CallBudget } from "../limits/call-budget.ts";
import type { CallContext, CallId, CallIds, ChangeContext, ReceivedFacts, Rpc } from "../convert/methods.ts";
import type { CallOptions, ChangeNumbers, ChangeOptions } from "../model/client.ts";
import type { ProviderConnection } from "../connection/connection.ts";
import { notConnectedError, scopeMessage } from "../connection/state.ts";
import type { AnswerContext } from "../convert/instance.ts";
import { type BreachSink, ContractBreachError } from "../model/breach.ts";
import { asProviderError, contractError, hasReason, type ProviderError } from "../model/errors.ts";
import type { RateLimitedCaller } from "../limits/rate-limited-caller.ts";
import type { Absence } from "../model/instance.ts";
import type { Capabilities, Limits, ProviderInfo } from "../model/info.ts";

export interface SessionDeps {
  readonly provider: string;
  readonly connection: ProviderConnection;
  readonly governed: RateLimitedCaller;
  readonly budget: CallBudget;
  readonly ids: CallIds;
  readonly numbers: ChangeNumbers;
  readonly clock: Clock;
  readonly breaches: BreachSink;
}

/** A response with the data of its request. */
export interface Answered<Response> {
  readonly response: Response;
  readonly requestId: string;
  /** Handshake at the time of the call. */
  readonly info: ProviderInfo;
  /** Age of the oldest data in the response; undefined: unknown. */
  readonly dataAgeMs: number | undefined;
  readonly received: ReceivedFacts;
}

/** Calls to one provider: adds the common request fields and checks every response. */
export class Session {
  readonly #deps: SessionDeps;
  readonly provider: string;
  readonly budget: CallBudget;
  readonly clock: Clock;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.provider = deps.provider;
    this.budget = deps.budget;
    this.clock = deps.clock;
  }

  get info(): ProviderInfo | undefined {
    return this.#deps.connection.info;
  }

  /** The capability of that group; rejects when the provider is not connected or does not support it. */
  async capability<Group extends keyof Capabilities>(
    group: Group,
    signal: AbortSignal,
  ): Promise<NonNullable<Capabilities[Group]>> {
    const { capabilities } = await this.#admitted({ isChange: false }, signal);
    const capability = capabilities[group];
    if (capability !== undefined && capability !== null) return capability;
    throw contractError("CAPABILITY_ABSENT", `provider ${this.provider} does not support ${group}`);
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
    // Reads are split before.
    if (rpc.isChange) this.#rejectTooLarge(rpc, message, info.limits.maxReceiveBytes);
    let received: ReceivedFacts = { sizeBytes: 0, isPartial: false };
    const options = { signal, priority, received: (facts: ReceivedFacts) => void (received = facts), ...id };
    const response = await this.#deps.governed.call(rpc, message, options);
    return { response, requestId: id.requestId, info, dataAgeMs: rpc.stats(response)?.dataAgeMs, received };
  }

  async change<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: (context: CallContext, change: ChangeContext) => Request,
    options: ChangeOptions,
  ): Promise<Answered<Response>> {
    const { validateOnly = false, trigger = "", refuse } = options;
    const fresh = this.#deps.ids.next();
    const requestId = options.requestId ?? fresh.requestId;
    const id = { ...fresh, requestId, ...(refuse === undefined ? {} : { refuse }) };
    // Numbered before it is queued: another process may lead when it is sent. A dry-run request needs no number.
    const sequence = validateOnly ? 0n : this.#deps.numbers.next();
    const change: ChangeContext = { requestId: id.requestId, validateOnly, trigger, sequence };
    try {
      return await this.call(rpc, (context) => request(context, change), options, id);
    } catch (error) {
      throw this.checkStale(asProviderError(error));
    }
  }

  /** Reports a stale change number. */
  checkStale(error: ProviderError): ProviderError {
    if (hasReason(error, "STALE_GENERATION")) this.#deps.numbers.rejected(error);
    return error;
  }

  /** Messages of a stream. */
  async *stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: (context: CallContext) => Request,
    signal: AbortSignal,
  ): AsyncGenerator<Response, void, undefined> {
    const info = await this.#admitted(rpc, signal);
    const { connection, ids } = this.#deps;
    yield* connection.stream(rpc, request(connection.context(info)), { signal, ...ids.next() });
  }

  answerContext({ info, requestId, dataAgeMs }: Answered<unknown>): AnswerContext {
    const { scopeId, bootId } = info;
    const witness = { provider: this.provider, scopeId, bootId, receivedAtMs: this.clock.nowMs() };
    return { witness, requestId, dataAgeMs };
  }

  /** Why a response from `scopeId` must be ignored; undefined: it is valid. */
  scopeProblem({ info, requestId }: Answered<unknown>, scopeId: string): ProviderError | undefined {
    if (scopeId === info.scopeId) return undefined;
    const why = `responded from scope "${scopeId}", but its handshake names "${info.scopeId}"`;
    this.#deps.connection.renew(`the provider ${why}`);
    return contractError("SCOPE_MISMATCH", `provider ${this.provider} ${why}`, { requestId });
  }

  /** Makes and reports the error of a list that exceeds a limit of the contract. */
  brokenList(method: string): (description: string) => ContractBreachError {
    return (description) => {
      const breach = { method, rule: "pages", field: "", description } as const;
      this.#deps.breaches(breach);
      return new ContractBreachError(this.provider, breach, "");
    };
  }

  /** Why that absence must be ignored; undefined: it is valid. */
  absenceProblem(absence: Absence): ProviderError | undefined {
    const change = this.#deps.connection.scopeChange;
    if (change === undefined) return undefined;
    const message = `provider ${absence.witness.provider} reports "absent", but ${scopeMessage(change)}`;
    return contractError("SCOPE_MISMATCH", message);
  }

  #rejectTooLarge<Request>(rpc: Rpc<Request, unknown>, message: Request, maxBytes: number): void {
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
