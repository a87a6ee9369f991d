import { errorCodes, type ErrorCode } from "../api/errors.ts";

/** A refusal the client is told of. Anything else that is thrown is a bug and answered as InternalError. */
export class CloudError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = "CloudError";
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}
