import { parseRetryAfter, ProviderError } from "@cloudwire/provider-sdk";

type Reason = ConstructorParameters<typeof ProviderError>[0];

/** What codes of EC2 and Elastic Load Balancing mean in the contract; without the suffix "Exception" that some of them have. */
const codes: readonly (readonly [reason: Reason, codes: readonly string[]])[] = [
  [
    "RATE_LIMITED",
    [
      "BandwidthLimitExceeded",
      "EC2Throttled",
      "PriorRequestNotComplete",
      "RequestLimitExceeded",
      "RequestThrottled",
      "SlowDown",
      "Throttled",
      "Throttling",
      "TooManyRequests",
    ],
  ],
  [
    "CLOUD_CREDENTIALS_INVALID",
    [
      "AuthFailure",
      "CredentialsProviderError",
      "ExpiredToken",
      "IncompleteSignature",
      "InvalidClientTokenId",
      "MissingAuthenticationToken",
      "RequestExpired",
      "SignatureDoesNotMatch",
      "UnrecognizedClient",
    ],
  ],
  ["CLOUD_PERMISSION_DENIED", ["AccessDenied", "UnauthorizedOperation"]],
  // What the account, or the VPC that the operator has prepared, lacks.
  [
    "CLOUD_SETUP_INVALID",
    [
      "AvailabilityZoneNotSupported",
      "Blocked",
      "InvalidRouteTableID.NotFound",
      "InvalidSubnet",
      "InvalidVpcID.NotFound",
      "OptInRequired",
      "PendingVerification",
      "UnsupportedOperation",
    ],
  ],
  [
    "QUOTA_EXCEEDED",
    [
      "InsufficientFreeAddressesInSubnet",
      "ResourceLimitExceeded",
      "RouteLimitExceeded",
      "RulesPerSecurityGroupLimitExceeded",
      "SecurityGroupLimitExceeded",
      "SecurityGroupsPerInterfaceLimitExceeded",
      "TagLimitExceeded",
      "TooManyListeners",
      "TooManyLoadBalancers",
      "TooManyRegistrationsForTargetId",
      "TooManyTags",
      "TooManyTargetGroups",
      "TooManyTargets",
      "TooManyUniqueTargetGroupsPerLoadBalancer",
    ],
  ],
  ["DEPENDENCY_IN_USE", ["DependencyViolation", "ResourceInUse"]],
  ["DELETION_PROTECTED", ["OperationNotPermitted"]],
  ["ADDRESS_IN_USE", ["InvalidIPAddress.InUse", "Resource.AlreadyAssociated"]],
  ["NOT_READY", ["IncorrectInstanceState", "IncorrectState", "InvalidTarget"]],
  // Deleted after they were read. Where that is an answer, the reader has handled it.
  [
    "NOT_READY",
    [
      "InvalidInstanceID.NotFound",
      "InvalidRoute.NotFound",
      "ListenerNotFound",
      "LoadBalancerNotFound",
      "TargetGroupNotFound",
    ],
  ],
  ["OPERATION_IN_PROGRESS", ["ConcurrentTagAccess", "OperationInProgress"]],
  ["NAME_TAKEN", ["DuplicateLoadBalancerName", "DuplicateTargetGroupName", "InvalidGroup.Duplicate"]],
  ["CIDR_CONFLICT", ["RouteAlreadyExists"]],
  [
    "FIELD_INVALID",
    [
      "AllocationIdNotFound",
      "CertificateNotFound",
      "InvalidAddress.NotFound",
      "InvalidAllocationID.NotFound",
      "InvalidConfigurationRequest",
      "InvalidGroup.NotFound",
      "InvalidParameterCombination",
      "InvalidParameterValue",
      "InvalidScheme",
      "InvalidSecurityGroup",
      "InvalidSubnetID.NotFound",
      "SSLPolicyNotFound",
      "SubnetNotFound",
      "UnsupportedProtocol",
      "ValidationError",
    ],
  ],
  ["CLOUD_UNAVAILABLE", ["InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"]],
  ["CLOUD_TIMEOUT", ["RequestTimeout"]],
];

const reasons: ReadonlyMap<string, Reason> = new Map(
  codes.flatMap(([reason, listed]) => listed.map((code) => [code, reason] as const)),
);

/**
 * What a failed call of AWS means in the contract. Nothing here is ever an absence: what does not exist is read from an answer that succeeds.
 * Other errors, such as aborts and lost connections, are returned unchanged, because the SDK handles them.
 */
export function toProviderError(error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof ProviderError || code === undefined) return error;
  const status = statusOf(error);
  const reason = reasons.get(code) ?? (status !== undefined && status >= 500 ? "CLOUD_UNAVAILABLE" : undefined);
  if (reason === undefined) return error;
  const awsMessage = error instanceof Error ? error.message : "";
  return new ProviderError(reason, `AWS returned ${code}: ${awsMessage}`, {
    cause: error,
    metadata: { aws_code: code },
    ...(reason === "RATE_LIMITED" ? { retryAfterMs: retryAfterMs(error) } : {}),
    ...(reason === "QUOTA_EXCEEDED" ? { quota: { subject: code, description: awsMessage } } : {}),
  });
}

/** AWS' own code of an error, without the suffix "Exception"; undefined: the error is not one of AWS. */
export function errorCode(error: unknown): string | undefined {
  const thrown = error instanceof ProviderError ? error.cause : error;
  const name = property(thrown, "name");
  if (typeof name !== "string") return undefined;
  if (name !== "CredentialsProviderError" && property(thrown, "$fault") === undefined) return undefined;
  return name.replace(/Exception$/, "");
}

/** True for the code with which AWS says that there is no such object. */
export function isCode(error: unknown, ...wanted: readonly string[]): boolean {
  return wanted.includes(errorCode(error) ?? "");
}

/** HTTP status of an error's answer. */
export function statusOf(error: unknown): number | undefined {
  const status = property(property(error, "$metadata"), "httpStatusCode");
  return typeof status === "number" ? status : undefined;
}

function retryAfterMs(error: unknown): number | undefined {
  const text = property(property(property(error, "$response"), "headers"), "retry-after");
  return typeof text === "string" ? parseRetryAfter(text, Date.now()) : undefined;
}

function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
