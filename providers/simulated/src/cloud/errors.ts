import { errorCodes, type ErrorCode } from "../api/errors.ts";

/** An error for the client. Any other thrown error is a bug and returned as InternalError. */
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
