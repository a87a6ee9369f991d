/** Cannot succeed until something changes: logged and counted, not retried. */
export class TerminalError extends Error {
  readonly code = "TERMINAL";
  override readonly name = "TerminalError";
}

/** A rule of the controller decided when to retry: the key waits exactly that long and its failure count stays. */
export class RetryAfterError extends Error {
  readonly code = "RETRY_AFTER";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "RetryAfterError";
    this.retryAfterMs = retryAfterMs;
  }
}

/** Longest chain of `cause` that is followed: a cycle must not hang a worker. */
const MAX_CAUSES = 16;

/** `error` and its causes, outermost first. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  let current = error;
  while (current !== undefined && current !== null && causes.length < MAX_CAUSES) {
    causes.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return causes;
}

/** Delay that our own rules or our call budget decided; undefined: none of them did. */
export function ownDelayMsOf(error: unknown): number | undefined {
  const own = causesOf(error).find((cause) => cause instanceof RetryAfterError || isClientThrottled(cause));
  return own === undefined ? undefined : requestedMs(own);
}

/**
 * Minimum delay that the other side requested: `retryAfterMs` of the first error in the chain that has one (ApiError and ProviderError do). It
 * never replaces our back-off, because a hostile or broken peer can request 0.
 */
export function retryAfterMsOf(error: unknown): number | undefined {
  return causesOf(error)
    .map((cause) => requestedMs(cause))
    .find((delayMs) => delayMs !== undefined);
}

function requestedMs(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("retryAfterMs" in error)) return undefined;
  const { retryAfterMs } = error;
  return typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs) ? Math.max(0, retryAfterMs) : undefined;
}

function isClientThrottled(error: unknown): boolean {
  return error instanceof Error && "isClientThrottled" in error && error.isClientThrottled === true;
}

export function isTerminal(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof TerminalError);
}

/** The cause affects many objects and is logged once for all of them: a log line for each would bury the rest. */
export function isReportedElsewhere(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof Error && "isReportedElsewhere" in cause && cause.isReportedElsewhere === true,
  );
}

/** One line for logs and events: the message, followed by the causes that add something. */
export function messageOf(error: unknown): string {
  const parts: string[] = [];
  for (const cause of causesOf(error)) {
    const text = cause instanceof Error ? cause.message : String(cause);
    const detail = detailOf(cause, text);
    if (text !== "" && !parts.some((part) => part.includes(detail))) parts.push(text);
  }
  return parts.join(": ");
}

/** gRPC's message is its code and the peer's message, which `details` holds alone. */
function detailOf(cause: unknown, text: string): string {
  const details = cause instanceof Error && "details" in cause ? cause.details : undefined;
  return typeof details === "string" && details !== "" && text.endsWith(details) ? details : text;
}

/** Only an operator can fix it; printed as one line, without a stack. */
export class UsageError extends Error {
  readonly code = "USAGE";
  override readonly name = "UsageError";
}
