import type { Cause, State } from "@cloudwire/operator-api";
import { NODE_REASONS } from "./node.ts";
import { PROGRAM_REASONS } from "./program.ts";
import { PROVIDER_REASONS } from "./provider.ts";
import { ROUTE_REASONS } from "./route.ts";
import type { ReasonRow } from "./row.ts";
import { SERVICE_REASONS } from "./service.ts";

/** Every reason that explain, the lists and the status page give. People and programs branch on them: none is ever renamed. */
export const REASONS = {
  ...PROGRAM_REASONS,
  ...PROVIDER_REASONS,
  ...NODE_REASONS,
  ...SERVICE_REASONS,
  ...ROUTE_REASONS,
} as const satisfies Readonly<Record<string, ReasonRow>>;

/** CamelCase and stable. */
export type Reason = keyof typeof REASONS;

/** One {@link Cause} of the closed list. */
export interface KnownCause extends Cause {
  readonly reason: Reason;
}

/**
 * A reason as it is told.
 * @param message what is known more exactly than the list has it
 */
export function cause(reason: Reason, message?: string, remedy?: string): KnownCause {
  const row: ReasonRow = REASONS[reason];
  const told = remedy ?? row.remedy;
  return {
    reason,
    message: message === undefined || message === "" ? row.message : sentence(message),
    ...(told === undefined ? {} : { remedy: told }),
    documentation: row.documentation,
  };
}

/**
 * The reason for a word that a controller gives.
 * @param table of all words that there are; those that have no reason of their own are undefined
 */
export function reasonFor<Word extends string>(
  table: Readonly<Record<Word, Reason | undefined>>,
  word: string | undefined,
): Reason | undefined {
  return word !== undefined && isWordOf(table, word) ? table[word] : undefined;
}

function isWordOf<Word extends string>(table: Readonly<Record<Word, unknown>>, word: string): word is Word {
  return Object.hasOwn(table, word);
}

/** How an object stands that this is the first cause of. */
export function stateOf({ reason }: KnownCause): State {
  return REASONS[reason].state;
}

/** Errors begin small and end without a stop; a name at the front stays as it is. */
function sentence(message: string): string {
  const trimmed = message.trim();
  const [first = ""] = trimmed.split(/\s/, 1);
  const capital = /^[a-z]+$/.test(first) ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?…)]$/.test(capital) ? capital : `${capital}.`;
}
