/** Will not succeed until something changes: logged and counted, not retried. */
export class TerminalError extends Error {
  readonly code = "TERMINAL";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TerminalError";
  }
}

/** Failed, and the other side said when to come back: the key waits exactly that long and its failure count stays. */
export class RetryAfterError extends Error {
  readonly code = "RETRY_AFTER";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "RetryAfterError";
    this.retryAfterMs = retryAfterMs;
  }
}

/** Longest chain of `cause` followed; a cycle must not hang a worker. */
const MAX_CAUSES = 16;

/** `error` and what caused it, outermost first. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  let current = error;
  while (current !== undefined && current !== null && causes.length < MAX_CAUSES) {
    causes.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return causes;
}

/** The wait asked for by the first error in the chain that has a numeric `retryAfterMs` (ApiError and provider errors do). */
export function retryAfterMsOf(error: unknown): number | undefined {
  for (const cause of causesOf(error)) {
    if (typeof cause === "object" && cause !== null && "retryAfterMs" in cause) {
      const { retryAfterMs } = cause;
      if (typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs)) return Math.max(0, retryAfterMs);
    }
  }
  return undefined;
}

export function isTerminal(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof TerminalError);
}

/** Whether something that concerns many has it said already, once for all (`isReportedElsewhere`): a line for each would bury the rest. */
export function isReportedElsewhere(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof Error && "isReportedElsewhere" in cause && cause.isReportedElsewhere === true,
  );
}

/** One line for logs and events: the message, followed by causes that add something. */
export function messageOf(error: unknown): string {
  const parts: string[] = [];
  for (const cause of causesOf(error)) {
    const text = cause instanceof Error ? cause.message : String(cause);
    const news = newsOf(cause, text);
    if (text !== "" && !parts.some((part) => part.includes(news))) parts.push(text);
  }
  return parts.join(": ");
}

/** gRPC puts its code before what the peer said, which it has once more as `details`. */
function newsOf(cause: unknown, text: string): string {
  const details = cause instanceof Error && "details" in cause ? cause.details : undefined;
  return typeof details === "string" && details !== "" && text.endsWith(details) ? details : text;
}

/** Something that only an operator can put right; shown as one line, without a stack. */
export class UsageError extends Error {
  readonly code = "USAGE";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UsageError";
  }
}
