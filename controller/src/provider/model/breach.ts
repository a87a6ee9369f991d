import { ProviderError } from "./errors.ts";

/** A violation of the contract in a response. */
export interface Breach {
  readonly method: string;
  /** Kind of rule: the label of the metric. */
  readonly rule: "size" | "encoding" | "items" | "pages" | "field" | "time";
  /** Path in proto spelling: `results[3].instance.addresses[0].address`; "": the whole response. */
  readonly field: string;
  readonly description: string;
}

/** Called with each breach. Never throws. */
export type BreachSink = (breach: Breach) => void;

/** Code, reason and domain of a response, or an item of it, that was not used because it violates the contract. */
export const RESPONSE_INVALID = { code: 13, reason: "RESPONSE_INVALID", domain: "cloudwire.dev" } as const;

/** A response of a provider violates the contract and was not used. The outcome of a change is unknown. */
export class ContractBreachError extends ProviderError {
  readonly breach: Breach;

  constructor(provider: string, breach: Breach, requestId: string) {
    const { method, field, description } = breach;
    const what = field === "" ? "it" : field;
    const message = `${provider} ${method}: the response violates the contract: ${what} ${description}; report it to the provider's vendor`;
    const { reason, domain } = RESPONSE_INVALID;
    super({ code: "INTERNAL", reason, domain, message, requestId });
    this.name = "ContractBreachError";
    this.breach = breach;
  }
}
