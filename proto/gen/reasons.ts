// Generated from the .proto files by `npm run gen`. Do not edit.

/** What the caller does after an error. README.md has the shorthand letters U, T, W, F, O, R. */
export type ErrorClass = "OUTCOME_UNKNOWN" | "TRANSIENT" | "WAIT" | "FINAL" | "OPERATOR" | "RESYNC";

/** Rules of one error reason. */
export interface ReasonRule {
  /** Canonical gRPC code that goes with the reason. */
  readonly code: number;
  readonly class: ErrorClass;
  /** The error must contain RetryInfo. */
  readonly retryInfoRequired?: boolean;
  /** Only occurs as the error of an item in an OK response. */
  readonly itemOnly?: boolean;
}

/** `google.rpc.ErrorInfo.domain` of the reasons below. */
export const errorDomain = "cloudprovider.v1";

/** The closed list of reasons, by the name that travels on the wire. */
export const errorReasons = {
  FIELD_MISSING: {"code":3,"class":"FINAL"},
  FIELD_INVALID: {"code":3,"class":"FINAL"},
  FIELD_TOO_LARGE: {"code":3,"class":"FINAL"},
  BATCH_EMPTY: {"code":3,"class":"FINAL"},
  BATCH_TOO_LARGE: {"code":3,"class":"FINAL"},
  PAGE_SIZE_INVALID: {"code":3,"class":"FINAL"},
  PAGE_TOKEN_INVALID: {"code":3,"class":"RESYNC"},
  PROVIDER_ID_MALFORMED: {"code":3,"class":"FINAL"},
  PORT_PROTOCOL_UNSUPPORTED: {"code":3,"class":"FINAL"},
  ANNOTATION_INVALID: {"code":3,"class":"FINAL"},
  CLASS_UNSUPPORTED: {"code":3,"class":"FINAL"},
  FEATURE_UNSUPPORTED: {"code":3,"class":"FINAL"},
  NOT_RESPONSIBLE: {"code":9,"class":"FINAL"},
  LOAD_BALANCER_NOT_FOUND: {"code":5,"class":"RESYNC"},
  ROUTE_TARGET_NOT_FOUND: {"code":5,"class":"RESYNC","itemOnly":true},
  ADDRESS_IN_USE: {"code":6,"class":"OPERATOR"},
  CIDR_CONFLICT: {"code":6,"class":"OPERATOR"},
  NAME_TAKEN: {"code":6,"class":"OPERATOR"},
  OWNED_BY_ANOTHER_CLUSTER: {"code":6,"class":"OPERATOR"},
  CLOUD_PERMISSION_DENIED: {"code":7,"class":"OPERATOR"},
  RATE_LIMITED: {"code":8,"class":"WAIT","retryInfoRequired":true},
  QUOTA_EXCEEDED: {"code":8,"class":"OPERATOR"},
  TOO_MANY_CALLS: {"code":8,"class":"WAIT","retryInfoRequired":true},
  SLOW_CONSUMER: {"code":8,"class":"RESYNC"},
  NODE_SET_UNKNOWN: {"code":9,"class":"RESYNC"},
  NODE_SET_BASE_MISMATCH: {"code":9,"class":"RESYNC"},
  NODES_FINGERPRINT_MISMATCH: {"code":9,"class":"RESYNC"},
  SCOPE_MISMATCH: {"code":9,"class":"OPERATOR"},
  DEPENDENCY_IN_USE: {"code":9,"class":"TRANSIENT"},
  NOT_READY: {"code":9,"class":"TRANSIENT"},
  DELETION_PROTECTED: {"code":9,"class":"OPERATOR"},
  AMBIGUOUS_NAME: {"code":9,"class":"OPERATOR","itemOnly":true},
  CLOUD_SETUP_INVALID: {"code":9,"class":"OPERATOR"},
  OPERATION_IN_PROGRESS: {"code":10,"class":"TRANSIENT"},
  STALE_GENERATION: {"code":10,"class":"RESYNC"},
  RESUME_TOKEN_EXPIRED: {"code":11,"class":"RESYNC"},
  CAPABILITY_ABSENT: {"code":12,"class":"FINAL"},
  VALIDATE_ONLY_UNSUPPORTED: {"code":12,"class":"FINAL"},
  UNMAPPED_ERROR: {"code":2,"class":"OUTCOME_UNKNOWN"},
  INVARIANT_BROKEN: {"code":13,"class":"OUTCOME_UNKNOWN"},
  DEADLINE_PASSED: {"code":4,"class":"OUTCOME_UNKNOWN"},
  CLOUD_UNAVAILABLE: {"code":14,"class":"TRANSIENT"},
  CLOUD_TIMEOUT: {"code":14,"class":"TRANSIENT"},
  ZONE_UNREACHABLE: {"code":14,"class":"TRANSIENT"},
  PROVIDER_STARTING: {"code":14,"class":"TRANSIENT"},
  PROVIDER_DRAINING: {"code":14,"class":"TRANSIENT"},
  NOT_YET_CONSISTENT: {"code":14,"class":"TRANSIENT","itemOnly":true},
  INCOMPLETE_ANSWER: {"code":14,"class":"TRANSIENT"},
  NODE_SET_INTEGRITY: {"code":15,"class":"RESYNC"},
  CLOUD_CREDENTIALS_INVALID: {"code":16,"class":"OPERATOR"},
  PEER_REFUSED: {"code":16,"class":"OPERATOR"},
} as const satisfies Readonly<Record<string, ReasonRule>>;

export type ErrorReason = keyof typeof errorReasons;
