package provider

// Reason is why a call, or one item of a batch, failed: a value of the contract's closed list. It determines the gRPC code and
// what the controller does.
type Reason string

// The reasons of the contract, cloudprovider.v1.ErrorReason.
const (
	// ReasonFieldMissing: A REQUIRED field is missing or empty. BadRequest names it.
	ReasonFieldMissing Reason = "FIELD_MISSING"
	// ReasonFieldInvalid: A field has a value that is invalid regardless of the state of the cloud. BadRequest names it.
	ReasonFieldInvalid Reason = "FIELD_INVALID"
	// ReasonFieldTooLarge: A field is longer than its limit. BadRequest names it.
	ReasonFieldTooLarge Reason = "FIELD_TOO_LARGE"
	// ReasonBatchEmpty: A batch has no items.
	ReasonBatchEmpty Reason = "BATCH_EMPTY"
	// ReasonBatchTooLarge: A batch has more items than the capability's `max_batch_size`. Metadata: `limit`.
	ReasonBatchTooLarge Reason = "BATCH_TOO_LARGE"
	// ReasonPageSizeInvalid: The page size is negative.
	ReasonPageSizeInvalid Reason = "PAGE_SIZE_INVALID"
	// ReasonPageTokenInvalid: The page token is not one of this provider's, has expired, or belongs to another request.
	ReasonPageTokenInvalid Reason = "PAGE_TOKEN_INVALID"
	// ReasonProviderIDMalformed: The provider ID has a prefix of this provider, but the rest is not a valid ID of its
	// cloud.
	ReasonProviderIDMalformed Reason = "PROVIDER_ID_MALFORMED"
	// ReasonPortProtocolUnsupported: A port has a protocol that the provider did not declare.
	ReasonPortProtocolUnsupported Reason = "PORT_PROTOCOL_UNSUPPORTED"
	// ReasonAnnotationInvalid: An annotation that the provider declared has an invalid value. BadRequest names
	// `spec.annotations["key"]`.
	ReasonAnnotationInvalid Reason = "ANNOTATION_INVALID"
	// ReasonClassUnsupported: The load-balancer class is not one of the declared ones.
	ReasonClassUnsupported Reason = "CLASS_UNSUPPORTED"
	// ReasonFeatureUnsupported: The request needs a feature that the provider did not declare, and ignoring it would
	// mislead the user.
	ReasonFeatureUnsupported Reason = "FEATURE_UNSUPPORTED"
	// ReasonNotResponsible: The annotations of the Service assign it to another controller. The controller ignores the
	// Service.
	ReasonNotResponsible Reason = "NOT_RESPONSIBLE"
	// ReasonLoadBalancerNotFound: The load balancer of a node update does not exist. To fix: call Ensure.
	ReasonLoadBalancerNotFound Reason = "LOAD_BALANCER_NOT_FOUND"
	// ReasonRouteTargetNotFound: The target instance of a route does not exist.
	ReasonRouteTargetNotFound Reason = "ROUTE_TARGET_NOT_FOUND"
	// ReasonAddressInUse: A requested address is in use by another object. Metadata: `address`.
	ReasonAddressInUse Reason = "ADDRESS_IN_USE"
	// ReasonCIDRConflict: Another route, which this cluster does not own, sends the same pod CIDR to another target.
	// Metadata: `cidr`.
	ReasonCIDRConflict Reason = "CIDR_CONFLICT"
	// ReasonNameTaken: An object with the required name exists and has no ownership tags. Metadata: `name`, `id`.
	ReasonNameTaken Reason = "NAME_TAKEN"
	// ReasonOwnedByAnotherCluster: The ownership tags of the object name another cluster. Metadata: `owner_cluster_id`,
	// `owner_cluster_name`, `id`.
	ReasonOwnedByAnotherCluster Reason = "OWNED_BY_ANOTHER_CLUSTER"
	// ReasonCloudPermissionDenied: The provider's cloud identity lacks a permission. Metadata: `action`, if the cloud
	// reports it.
	ReasonCloudPermissionDenied Reason = "CLOUD_PERMISSION_DENIED"
	// ReasonRateLimited: The cloud throttles requests.
	ReasonRateLimited Reason = "RATE_LIMITED"
	// ReasonQuotaExceeded: A quota or the capacity of the cloud is exhausted. QuotaFailure names it.
	ReasonQuotaExceeded Reason = "QUOTA_EXCEEDED"
	// ReasonTooManyCalls: More concurrent calls than `Limits.max_concurrent_calls`.
	ReasonTooManyCalls Reason = "TOO_MANY_CALLS"
	// ReasonSlowConsumer: The reader of a stream was blocked for 30 s.
	ReasonSlowConsumer Reason = "SLOW_CONSUMER"
	// ReasonNodeSetUnknown: The node set is unknown, for example after a restart of the provider. To fix: send the complete
	// set.
	ReasonNodeSetUnknown Reason = "NODE_SET_UNKNOWN"
	// ReasonNodeSetBaseMismatch: The base of a delta is not the current set. Metadata: `fingerprint` of the current set.
	ReasonNodeSetBaseMismatch Reason = "NODE_SET_BASE_MISMATCH"
	// ReasonNodesFingerprintMismatch: The request has `unchanged`, but the nodes of the load balancer have a different
	// fingerprint. To fix: send all nodes.
	ReasonNodesFingerprintMismatch Reason = "NODES_FINGERPRINT_MISMATCH"
	// ReasonScopeMismatch: The request is for a different scope than the provider's: another account, project or region.
	ReasonScopeMismatch Reason = "SCOPE_MISMATCH"
	// ReasonDependencyInUse: Another object in the cloud still uses the object.
	ReasonDependencyInUse Reason = "DEPENDENCY_IN_USE"
	// ReasonNotReady: The cloud does not accept changes to the object in its current state.
	ReasonNotReady Reason = "NOT_READY"
	// ReasonDeletionProtected: The object is protected against deletion in the cloud.
	ReasonDeletionProtected Reason = "DELETION_PROTECTED"
	// ReasonAmbiguousName: Several instances have the requested name, and no hint identifies one. Metadata: `matches`.
	ReasonAmbiguousName Reason = "AMBIGUOUS_NAME"
	// ReasonCloudSetupInvalid: Required setup is missing in the cloud or in the provider's settings, such as a tagged
	// subnet. The message states what an operator must set up, and how.
	ReasonCloudSetupInvalid Reason = "CLOUD_SETUP_INVALID"
	// ReasonOperationInProgress: Another change of the same object is in progress.
	ReasonOperationInProgress Reason = "OPERATION_IN_PROGRESS"
	// ReasonStaleGeneration: The request is older than a change already applied. To fix: drop it and read the object
	// again.
	ReasonStaleGeneration Reason = "STALE_GENERATION"
	// ReasonResumeTokenExpired: The resume token is too old or unknown. To fix: list, then watch with initial events.
	ReasonResumeTokenExpired Reason = "RESUME_TOKEN_EXPIRED"
	// ReasonCapabilityAbsent: The RPC belongs to a capability that the handshake does not list.
	ReasonCapabilityAbsent Reason = "CAPABILITY_ABSENT"
	// ReasonValidateOnlyUnsupported: `validate_only` is set but the capability does not offer it. Nothing was changed.
	ReasonValidateOnlyUnsupported Reason = "VALIDATE_ONLY_UNSUPPORTED"
	// ReasonUnmappedError: An unexpected error, a bug of the provider. The message contains only a correlation ID.
	ReasonUnmappedError Reason = "UNMAPPED_ERROR"
	// ReasonInvariantBroken: The provider's state or a response of the cloud is inconsistent.
	ReasonInvariantBroken Reason = "INVARIANT_BROKEN"
	// ReasonDeadlinePassed: The call reached its deadline. A change may still be in progress.
	ReasonDeadlinePassed Reason = "DEADLINE_PASSED"
	// ReasonCloudUnavailable: The cloud returns server errors or cannot be reached.
	ReasonCloudUnavailable Reason = "CLOUD_UNAVAILABLE"
	// ReasonCloudTimeout: A read from the cloud timed out.
	ReasonCloudTimeout Reason = "CLOUD_TIMEOUT"
	// ReasonZoneUnreachable: A zone or region cannot be read. Metadata: `zone`.
	ReasonZoneUnreachable Reason = "ZONE_UNREACHABLE"
	// ReasonProviderStarting: The provider is not ready to serve yet.
	ReasonProviderStarting Reason = "PROVIDER_STARTING"
	// ReasonProviderDraining: The provider is shutting down. Streams end with this reason too.
	ReasonProviderDraining Reason = "PROVIDER_DRAINING"
	// ReasonNotYetConsistent: The instance is younger than the cloud's read consistency delay, so its absence proves
	// nothing.
	ReasonNotYetConsistent Reason = "NOT_YET_CONSISTENT"
	// ReasonIncompleteAnswer: The response of the cloud is truncated or inconsistent, so missing items prove nothing.
	ReasonIncompleteAnswer Reason = "INCOMPLETE_ANSWER"
	// ReasonNodeSetIntegrity: Chunks of a node set do not add up to `target_count`. Nothing was committed.
	ReasonNodeSetIntegrity Reason = "NODE_SET_INTEGRITY"
	// ReasonCloudCredentialsInvalid: The cloud rejects the provider's credentials, or they have expired.
	ReasonCloudCredentialsInvalid Reason = "CLOUD_CREDENTIALS_INVALID"
	// ReasonPeerRefused: The provider rejects the caller's identity (mTLS).
	ReasonPeerRefused Reason = "PEER_REFUSED"
)
