import type { ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { classifyError } from "../results/classify.ts";
import { ProviderError } from "../results/errors.ts";
import { type MethodDefinition, type RpcCall, type RpcMethod, serverStream, unary } from "./rpc/method.ts";
import { CallLimit } from "../state/call-limit.ts";
import { RequestValidator } from "./validation/request-validator.ts";
import type { Violation } from "./validation/violation.ts";
import { knownScope, type ProviderRuntime, type WithContext } from "./runtime.ts";

type Checks<Request> = (request: Request) => readonly Violation[];

/** Binds handlers to methods with everything that happens before a provider's code: validation, admission checks, the concurrency limit. */
export class MethodBinder {
  readonly #validator: RequestValidator;
  readonly #limit: CallLimit;
  readonly #observe: ProviderRuntime["observe"];

  constructor(runtime: ProviderRuntime) {
    this.#validator = new RequestValidator(runtime.rules, () => knownScope(runtime));
    this.#limit = new CallLimit(runtime.limits.maxConcurrentCalls);
    this.#observe = runtime.observe;
  }

  /** A read. */
  read<Request extends WithContext, Partial, Response>(
    method: MethodDefinition<Request, Partial, Response>,
    checks: Checks<Request>,
    handler: (request: Request, call: RpcCall) => Promise<Partial>,
  ): RpcMethod {
    return unary(method, (request, call) => {
      this.#validator.check(method.name, request, checks(request));
      return this.#limit.run(() => this.#observed(call, () => handler(request, call)));
    });
  }

  /** What a handler throws says as much about the cloud as what it reports. */
  async #observed<Result>(call: RpcCall, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      const { error } = classifyError(thrown, { mutation: call.mutation, correlationId: call.requestId });
      // A caller that gave up says nothing about the cloud.
      if (!call.signal.aborted) this.#observe({ kind: "failure", error });
      throw thrown;
    }
  }

  /** A change; refused when it asks for a dry run that the provider does not offer. */
  change<Request extends WithContext & { readonly change: ChangeContext | undefined }, Partial, Response>(
    method: MethodDefinition<Request, Partial, Response>,
    options: { readonly validateOnly: boolean; readonly checks: Checks<Request> },
    handler: (request: Request, call: RpcCall) => Promise<Partial>,
  ): RpcMethod {
    return this.read(method, options.checks, async (request, call) => {
      if (request.change?.validateOnly && !options.validateOnly)
        throw new ProviderError(
          "VALIDATE_ONLY_UNSUPPORTED",
          `This provider cannot check ${method.name} without doing it; nothing was changed`,
          { field: "change.validate_only" },
        );
      return handler(request, call);
    });
  }

  /** A stream; does not count as a call. */
  stream<Request extends WithContext, Partial, Response>(
    method: MethodDefinition<Request, Partial, Response>,
    checks: Checks<Request>,
    handler: (request: Request, call: RpcCall) => AsyncIterable<Partial>,
  ): RpcMethod {
    return serverStream(method, (request, call) => {
      this.#validator.check(method.name, request, checks(request));
      return handler(request, call);
    });
  }
}
