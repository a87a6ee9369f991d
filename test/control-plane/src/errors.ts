/** Why the test control plane could not be built, started or asked. */
export type ControlPlaneErrorCode =
  | "BAD_OPTIONS"
  | "BUILD_FAILED"
  | "COMMAND_FAILED"
  | "GO_MISSING"
  | "NOT_READY"
  | "PROCESS_ENDED"
  | "UNEXPECTED_CONTENT";

export class ControlPlaneError extends Error {
  readonly code: ControlPlaneErrorCode;

  constructor(code: ControlPlaneErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ControlPlaneError";
    this.code = code;
  }
}
