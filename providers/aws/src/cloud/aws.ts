import { AsyncLocalStorage } from "node:async_hooks";
import { EC2Client } from "@aws-sdk/client-ec2";
import { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type CallContext, ProviderError } from "@cloudwire/provider-sdk";
import { CallBudget } from "./call-budget.ts";
import { RotatingCredentials } from "./credentials.ts";
import { statusOf, toProviderError } from "./errors.ts";

/** What a call of AWS is made for: RPCs and background checks have it. */
export interface CallScope {
  readonly signal: AbortSignal;
  readonly recordCloudCall?: CallContext["recordCloudCall"];
}

/** For the second argument of `send`. */
export interface SendOptions {
  readonly abortSignal: AbortSignal;
}

/** How the provider calls AWS. */
export interface AwsCalls {
  /** @throws ProviderError */
  ec2<Output>(
    callScope: CallScope,
    send: (client: EC2Client, options: SendOptions) => Promise<Output>,
  ): Promise<Output>;
  /** @throws ProviderError */
  elb<Output>(
    callScope: CallScope,
    send: (client: ElasticLoadBalancingV2Client, options: SendOptions) => Promise<Output>,
  ): Promise<Output>;
}

/** Tries of one request, the first included. More would outlast the call that they are made for. */
const maxAttempts = 4;

/** The way to AWS: every request has the deadline of its call, each try is counted, and errors are those of the contract. */
export class Aws implements AwsCalls {
  readonly budgets: { readonly ec2: CallBudget; readonly elb: CallBudget };
  readonly #ec2: EC2Client;
  readonly #elb: ElasticLoadBalancingV2Client;
  readonly #credentials: RotatingCredentials;
  readonly #callScopes = new AsyncLocalStorage<CallScope>();
  readonly #nowMs: () => number;

  constructor({ region, nowMs }: { readonly region: string; readonly nowMs: () => number }) {
    this.#nowMs = nowMs;
    this.#credentials = new RotatingCredentials(nowMs);
    const config = { region, maxAttempts, retryMode: "adaptive", credentials: this.#credentials.provide };
    this.budgets = { ec2: new CallBudget("ec2"), elb: new CallBudget("elasticloadbalancing") };
    this.#ec2 = new EC2Client(config);
    this.#elb = new ElasticLoadBalancingV2Client(config);
    const { ec2, elb } = this.budgets;
    this.#ec2.middlewareStack.add(
      (next, { commandName }) =>
        (args) =>
          this.#attempt(ec2, String(commandName), args, () => next(args)),
      attemptStep,
    );
    this.#elb.middlewareStack.add(
      (next, { commandName }) =>
        (args) =>
          this.#attempt(elb, String(commandName), args, () => next(args)),
      attemptStep,
    );
  }

  async ec2<Output>(callScope: CallScope, send: (client: EC2Client, options: SendOptions) => Promise<Output>) {
    return this.#ask(callScope, (options) => send(this.#ec2, options));
  }

  async elb<Output>(
    callScope: CallScope,
    send: (client: ElasticLoadBalancingV2Client, options: SendOptions) => Promise<Output>,
  ) {
    return this.#ask(callScope, (options) => send(this.#elb, options));
  }

  async #ask<Output>(callScope: CallScope, send: (options: SendOptions) => Promise<Output>): Promise<Output> {
    try {
      return await this.#callScopes.run(callScope, () => send({ abortSignal: callScope.signal }));
    } catch (error) {
      throw toProviderError(error);
    }
  }

  /** One try of a request, below the SDK's own repetitions. */
  async #attempt<Output>(budget: CallBudget, commandName: string, args: object, next: () => Promise<Output>) {
    const callScope = this.#callScopes.getStore();
    const facts = { mutation: !/^(Describe|Get)/.test(commandName), retry: attemptOf(args) > 1 };
    try {
      const output = await next();
      callScope?.recordCloudCall?.({ ...facts, status: 200 });
      return output;
    } catch (error) {
      const known = toProviderError(error);
      if (known instanceof ProviderError && known.reason === "RATE_LIMITED") {
        budget.throttled(this.#nowMs(), known.retryAfterMs);
      }
      if (known instanceof ProviderError && known.reason === "CLOUD_CREDENTIALS_INVALID") this.#credentials.refused();
      callScope?.recordCloudCall?.({ ...facts, ...outcomeOf(error, known) });
      throw error;
    }
  }
}

const attemptStep = { step: "finalizeRequest", name: "cloudwireAttempt", priority: "low" } as const;

/** Other errors are responses, which the SDK recognizes by the status. */
const refusals: ReadonlySet<string> = new Set([
  "RATE_LIMITED",
  "CLOUD_CREDENTIALS_INVALID",
  "CLOUD_PERMISSION_DENIED",
  "CLOUD_UNAVAILABLE",
  "CLOUD_TIMEOUT",
]);

/** By AWS' code and not by the status alone: EC2 throttles with 503, load balancing with 400. */
function outcomeOf(error: unknown, known: unknown): { readonly status: number } | { readonly error: unknown } {
  const status = statusOf(error);
  if (known instanceof ProviderError && refusals.has(known.reason)) return { error: known };
  return status === undefined ? { error: known } : { status };
}

function attemptOf(args: object): number {
  const request: unknown = Reflect.get(args, "request");
  const headers: unknown =
    typeof request === "object" && request !== null ? Reflect.get(request, "headers") : undefined;
  const header: unknown =
    typeof headers === "object" && headers !== null ? Reflect.get(headers, "amz-sdk-request") : "";
  return Number(/attempt=(\d+)/.exec(String(header))?.[1] ?? 1);
}
