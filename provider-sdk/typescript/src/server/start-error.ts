/** Exit code of mistakes in the definition, the environment or the files given: `EX_CONFIG`. */
const configExitCode = 78;
/** Exit code when the endpoint is unavailable: `EX_UNAVAILABLE`. */
export const unavailableExitCode = 69;

/** Why a provider cannot be served. Its message names every problem and what to do; it needs no stack. */
export class ProviderStartError extends Error {
  override readonly name = "ProviderStartError";
  /** Whose mistake it is: that of the definition or the settings, or that of the endpoint. */
  readonly code: "CONFIG_INVALID" | "ENDPOINT_UNAVAILABLE";
  /** One sentence each. */
  readonly problems: readonly string[];

  /** `problems`: every problem, one line each. */
  constructor(code: "CONFIG_INVALID" | "ENDPOINT_UNAVAILABLE", problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), cause === undefined ? undefined : { cause });
    this.code = code;
    this.problems = problems;
  }

  /** What the process ends with. */
  get exitCode(): number {
    return this.code === "CONFIG_INVALID" ? configExitCode : unavailableExitCode;
  }
}
