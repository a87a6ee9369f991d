package provider

// Reason is why a call, or one item of a batch, failed: a word of the contract's closed list, which decides the gRPC code and
// what the controller does.
type Reason string

// The reasons of the contract, cloudprovider.v1.ErrorReason.
const (
	// ReasonFieldMissing: A REQUIRED field is missing or empty. BadRequest names it.
	ReasonFieldMissing Reason = "FIELD_MISSING"
	// ReasonFieldInvalid: A field has a value that no state of the cloud would accept. BadRequest names it.
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
	// ReasonProviderIDMalformed: The provider ID has a prefix of this provider but the rest cannot be an id of its
	// cloud.
	ReasonProviderIDMalformed Reason = "PROVIDER_ID_MALFORMED"
	// ReasonPortProtocolUnsupported: A port asks for a protocol that the provider did not declare.
	ReasonPortProtocolUnsupported Reason = "PORT_PROTOCOL_UNSUPPORTED"
	// ReasonAnnotationInvalid: An annotation of the provider's own has a value it cannot honor. BadRequest names
	// `spec.annotations["key"]`.
	ReasonAnnotationInvalid Reason = "ANNOTATION_INVALID"
	// ReasonClassUnsupported: The load-balancer class is not one of the declared ones.
	ReasonClassUnsupported Reason = "CLASS_UNSUPPORTED"
	// ReasonFeatureUnsupported: A feature is asked for that the provider did not declare, and leaving it out would
	// mislead the user.
	ReasonFeatureUnsupported Reason = "FEATURE_UNSUPPORTED"
	// ReasonNotResponsible: The Service is not this provider's to serve, by what its annotations say; somebody else
	// does. The controller writes nothing more about it.
	ReasonNotResponsible Reason = "NOT_RESPONSIBLE"
	// ReasonLoadBalancerNotFound: The load balancer named by an update of nodes does not exist. Answer: Ensure.
	ReasonLoadBalancerNotFound Reason = "LOAD_BALANCER_NOT_FOUND"
	// ReasonRouteTargetNotFound: The machine a route points to does not exist.
	ReasonRouteTargetNotFound Reason = "ROUTE_TARGET_NOT_FOUND"
	// ReasonAddressInUse: A requested address belongs to something else. Metadata: `address`.
	ReasonAddressInUse Reason = "ADDRESS_IN_USE"
	// ReasonCIDRConflict: A route for the same range to another target, not made by this cluster, is in the way.
	// Metadata: `cidr`.
	ReasonCIDRConflict Reason = "CIDR_CONFLICT"
	// ReasonNameTaken: An object of the name needed exists and carries no stamp of this contract. Metadata: `name`,
	// `id`.
	ReasonNameTaken Reason = "NAME_TAKEN"
	// ReasonOwnedByAnotherCluster: The object carries the stamp of another cluster. Metadata: `owner_cluster_id`,
	// `owner_cluster_name`, `id`.
	ReasonOwnedByAnotherCluster Reason = "OWNED_BY_ANOTHER_CLUSTER"
	// ReasonCloudPermissionDenied: The provider's identity at the cloud lacks a right. Metadata: `action` where the
	// cloud tells it.
	ReasonCloudPermissionDenied Reason = "CLOUD_PERMISSION_DENIED"
	// ReasonRateLimited: The cloud throttles.
	ReasonRateLimited Reason = "RATE_LIMITED"
	// ReasonQuotaExceeded: A quota or the capacity of the cloud is used up. QuotaFailure says which.
	ReasonQuotaExceeded Reason = "QUOTA_EXCEEDED"
	// ReasonTooManyCalls: More calls at once than `Limits.max_concurrent_calls`.
	ReasonTooManyCalls Reason = "TOO_MANY_CALLS"
	// ReasonSlowConsumer: The reader of a stream was blocked for 30 s.
	ReasonSlowConsumer Reason = "SLOW_CONSUMER"
	// ReasonNodeSetUnknown: The node set named is not known here (a restart forgets sets). Answer: upload it whole.
	ReasonNodeSetUnknown Reason = "NODE_SET_UNKNOWN"
	// ReasonNodeSetBaseMismatch: A delta was sent for another base than the one held. Metadata: `fingerprint` held.
	ReasonNodeSetBaseMismatch Reason = "NODE_SET_BASE_MISMATCH"
	// ReasonNodesFingerprintMismatch: `unchanged` was sent, but the load balancer's nodes have another fingerprint.
	// Answer: send them whole.
	ReasonNodesFingerprintMismatch Reason = "NODES_FINGERPRINT_MISMATCH"
	// ReasonScopeMismatch: The scope of the request is not the scope the provider works in: another account, project or
	// region.
	ReasonScopeMismatch Reason = "SCOPE_MISMATCH"
	// ReasonDependencyInUse: Something else still uses the object.
	ReasonDependencyInUse Reason = "DEPENDENCY_IN_USE"
	// ReasonNotReady: The object is in a state in which the cloud takes no change of it.
	ReasonNotReady Reason = "NOT_READY"
	// ReasonDeletionProtected: The object is protected against deletion at the cloud.
	ReasonDeletionProtected Reason = "DELETION_PROTECTED"
	// ReasonAmbiguousName: Several machines have the name asked for, and nothing tells which is meant. Metadata:
	// `matches`.
	ReasonAmbiguousName Reason = "AMBIGUOUS_NAME"
	// ReasonOperationInProgress: Another change of the same object is under way.
	ReasonOperationInProgress Reason = "OPERATION_IN_PROGRESS"
	// ReasonStaleGeneration: The request is older than what was already applied. Answer: drop it and read the object
	// again.
	ReasonStaleGeneration Reason = "STALE_GENERATION"
	// ReasonResumeTokenExpired: The resume token is too old or unknown. Answer: list, then watch with initial events.
	ReasonResumeTokenExpired Reason = "RESUME_TOKEN_EXPIRED"
	// ReasonCapabilityAbsent: The RPC belongs to a capability that the handshake does not list.
	ReasonCapabilityAbsent Reason = "CAPABILITY_ABSENT"
	// ReasonValidateOnlyUnsupported: `validate_only` is set but the capability does not offer it. Nothing was changed.
	ReasonValidateOnlyUnsupported Reason = "VALIDATE_ONLY_UNSUPPORTED"
	// ReasonUnmappedError: A bug of the provider that it did not expect. The message holds a correlation id and nothing
	// else.
	ReasonUnmappedError Reason = "UNMAPPED_ERROR"
	// ReasonInvariantBroken: The provider found its own state or the cloud's answer broken.
	ReasonInvariantBroken Reason = "INVARIANT_BROKEN"
	// ReasonDeadlinePassed: The provider gave up at the call's deadline; a change may still be under way.
	ReasonDeadlinePassed Reason = "DEADLINE_PASSED"
	// ReasonCloudUnavailable: The cloud answers with server errors or cannot be reached.
	ReasonCloudUnavailable Reason = "CLOUD_UNAVAILABLE"
	// ReasonCloudTimeout: The cloud did not answer a read in time.
	ReasonCloudTimeout Reason = "CLOUD_TIMEOUT"
	// ReasonZoneUnreachable: A zone or region cannot be read. Metadata: `zone`.
	ReasonZoneUnreachable Reason = "ZONE_UNREACHABLE"
	// ReasonProviderStarting: The provider is not ready to serve yet.
	ReasonProviderStarting Reason = "PROVIDER_STARTING"
	// ReasonProviderDraining: The provider is shutting down. Streams end with this reason too.
	ReasonProviderDraining Reason = "PROVIDER_DRAINING"
	// ReasonNotYetConsistent: The machine is younger than the cloud's read consistency: its absence means nothing yet.
	ReasonNotYetConsistent Reason = "NOT_YET_CONSISTENT"
	// ReasonIncompleteAnswer: The cloud's answer was cut short or does not add up, so that nothing may be concluded from
	// what it lacks.
	ReasonIncompleteAnswer Reason = "INCOMPLETE_ANSWER"
	// ReasonNodeSetIntegrity: Chunks of a node set do not add up to `target_count`. Nothing was committed.
	ReasonNodeSetIntegrity Reason = "NODE_SET_INTEGRITY"
	// ReasonCloudCredentialsInvalid: The cloud refuses the provider's credentials, or they have expired.
	ReasonCloudCredentialsInvalid Reason = "CLOUD_CREDENTIALS_INVALID"
	// ReasonPeerRefused: The provider refuses the caller's identity (mTLS).
	ReasonPeerRefused Reason = "PEER_REFUSED"
)
