import type { ProviderDefinition } from "@cloudwire/provider-sdk";
import type { Intercept } from "./mutant-proxy.ts";

/** A provider with a fault in how its process lives. */
export interface ProcessMutant {
  readonly name: string;
  /** What it does wrong. */
  readonly fault: string;
  /** Ids of the checks that fail on it: these and no others. None: the kit says that it is never ready. */
  readonly fails: readonly string[];
  /** How it is reached. Default: at a socket. */
  readonly transport?: "tls";
  /** What it serves at a socket. Default: the correct provider of everything. */
  readonly definition?: (socket: string) => ProviderDefinition;
  /** What its process does before it serves, told the path of its socket. */
  readonly before?: (socket: string) => void | Promise<void>;
  /** What it does to calls. */
  readonly intercept?: Intercept;
  /** What its process does once it serves. */
  readonly after?: (socket: string) => void;
}
