import type { Cause, State } from "@cloudwire/operator-api";
import { NODE_REASONS } from "./node.ts";
import { PROGRAM_REASONS } from "./program.ts";
import { PROVIDER_REASONS } from "./provider.ts";
import { ROUTE_REASONS } from "./route.ts";
import type { ReasonRow } from "./row.ts";
import { SERVICE_REASONS } from "./service.ts";

/** Every reason of explain, of the lists and of the status page. Programs branch on them. */
export const REASONS = {
  ...PROGRAM_REASONS,
  ...PROVIDER_REASONS,
  ...NODE_REASONS,
  ...SERVICE_REASONS,
  ...ROUTE_REASONS,
} as const satisfies Readonly<Record<string, ReasonRow>>;

export type Reason = keyof typeof REASONS;

export function isReason(text: string): text is Reason {
  return isKeyOf(REASONS, text);
}

/** A {@link Cause} with one of {@link REASONS}. */
export interface KnownCause extends Cause {
  readonly reason: Reason;
}

/**
 * @param message more exact than that of the reason
 * @param remedy likewise
 */
export function cause(
  reason: Reason,
  message?: string,
  remedy: string | undefined = REASONS[reason].remedy,
): KnownCause {
  const row = REASONS[reason];
  return {
    reason,
    message: message === undefined || message === "" ? row.message : sentence(message),
    ...(remedy === undefined ? {} : { remedy }),
    documentation: row.documentation,
  };
}

/**
 * The reason for a code of a controller; undefined: the code has none.
 * @param table of all codes
 */
export function reasonFor<Code extends string>(
  table: Readonly<Record<Code, Reason | undefined>>,
  code: string | undefined,
): Reason | undefined {
  return code !== undefined && isKeyOf(table, code) ? table[code] : undefined;
}

function isKeyOf<Key extends string>(table: Readonly<Record<Key, unknown>>, key: string): key is Key {
  return Object.hasOwn(table, key);
}

/** State of an object whose first cause this is. */
export function stateOf({ reason }: KnownCause): State {
  return REASONS[reason].state;
}

/** Errors start in lower case and have no period; a name at the front keeps its case. */
function sentence(message: string): string {
  const trimmed = message.trim();
  const [first = ""] = trimmed.split(/\s/, 1);
  const capital = /^[a-z]+$/.test(first) ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?…)]$/.test(capital) ? capital : `${capital}.`;
}
