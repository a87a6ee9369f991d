import { Type, type Static } from "typebox";

/** Every error code, its HTTP status, and how a client must react. */
export const errorCodes = {
  InvalidRequest: { status: 400, meaning: "the request is wrong in any state of the cloud: correct it" },
  InvalidId: { status: 400, meaning: "an id is not of the form this cloud gives out" },
  InvalidPageToken: { status: 400, meaning: "the page token is not of this list: start over" },
  PortNotPermitted: { status: 400, meaning: "the cloud may not listen on this port: see listenPortOffset" },
  Unauthenticated: { status: 401, meaning: "the API key is missing or unknown" },
  AccessDenied: { status: 403, meaning: "the API key lacks the right for this operation" },
  InstanceNotFound: { status: 404, meaning: "no such instance" },
  LoadBalancerNotFound: { status: 404, meaning: "no such load balancer" },
  RouteNotFound: { status: 404, meaning: "no such route" },
  VolumeNotFound: { status: 404, meaning: "no such volume" },
  OperationNotFound: { status: 404, meaning: "no such operation, or it ended over an hour ago" },
  NoSuchEndpoint: { status: 404, meaning: "the API has no such path" },
  NameInUse: { status: 409, meaning: "another resource of the account has this name" },
  AddressInUse: { status: 409, meaning: "another load balancer has this address" },
  RouteExists: { status: 409, meaning: "the account has a route to this destination" },
  InvalidState: { status: 409, meaning: "the resource is in a state that does not allow this" },
  ResourceProtected: { status: 409, meaning: "deletion protection is on" },
  RevisionMismatch: { status: 412, meaning: "the resource changed since it was read: read again" },
  EventsExpired: { status: 410, meaning: "the change feed no longer reaches back so far: list again" },
  QuotaExceeded: { status: 403, meaning: "the account's quota is used up: raise it or delete something" },
  AddressPoolExhausted: { status: 503, meaning: "the cloud has no address left" },
  RateLimited: { status: 429, meaning: "too many calls: wait as long as Retry-After says" },
  InternalError: { status: 500, meaning: "the cloud failed; the outcome of a change is unknown" },
  ServiceUnavailable: { status: 503, meaning: "the cloud, or a zone of it, cannot be reached at the moment" },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Body of every answer that is not 2xx. */
export const ErrorBody = Type.Object({ code: Type.String(), message: Type.String(), requestId: Type.String() });
export type ErrorBody = Static<typeof ErrorBody>;
