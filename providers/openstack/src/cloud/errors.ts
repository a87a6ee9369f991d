import { ProviderError } from "@cloudwire/provider-sdk";

type Reason = ConstructorParameters<typeof ProviderError>[0];

/** How a service of OpenStack refused a request. */
export interface Refusal {
  /** For people: `compute GET /servers/1`. */
  readonly request: string;
  readonly status: number;
  /** The service's own word for the fault, `OverQuota` or `itemNotFound`, where it has one. */
  readonly type: string;
  /** The service's own text. */
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
}

/** A failed response of OpenStack; the cause of the provider's error. */
export class OpenStackRefusal extends Error {
  override readonly name = "OpenStackRefusal";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`${refusal.request}: HTTP ${refusal.status} ${refusal.type} ${refusal.text}`);
    this.refusal = refusal;
  }
}

interface Rule {
  readonly status: number;
  /** Undefined: any. */
  readonly type?: RegExp;
  /** Only where the services have no word for the fault. Undefined: any. */
  readonly text?: RegExp;
  readonly reason: Reason;
}

/** The first match applies. A 404 is not an absence here: only the caller knows what it means for the object. */
const rules: readonly Rule[] = [
  { status: 400, type: /^(?:IpAddressInUse|InvalidIpForNetwork.*InUse)/, reason: "ADDRESS_IN_USE" },
  { status: 400, type: /^RoutesExhausted/, reason: "QUOTA_EXCEEDED" },
  // A next hop in a network that the router is not connected to.
  { status: 400, type: /^InvalidRoutes/, reason: "CLOUD_SETUP_INVALID" },
  { status: 400, reason: "FIELD_INVALID" },
  { status: 401, reason: "CLOUD_CREDENTIALS_INVALID" },
  // Nova and Octavia return this status also for an exhausted quota. Only the text distinguishes it from a missing role.
  { status: 403, text: /quota|overlimit|too many/i, reason: "QUOTA_EXCEEDED" },
  { status: 403, type: /overlimit/i, reason: "QUOTA_EXCEEDED" },
  { status: 403, reason: "CLOUD_PERMISSION_DENIED" },
  { status: 404, type: /^ExternalGatewayForFloatingIPNotFound$/, reason: "CLOUD_SETUP_INVALID" },
  { status: 404, reason: "INCOMPLETE_ANSWER" },
  { status: 406, reason: "FEATURE_UNSUPPORTED" },
  { status: 408, reason: "CLOUD_TIMEOUT" },
  {
    status: 409,
    type: /^(?:OverQuota|IpAddressGenerationFailure|ExternalIpAddressExhausted)/,
    reason: "QUOTA_EXCEEDED",
  },
  { status: 409, type: /^(?:IpAddress|FixedIp|FloatingIP).*(?:InUse|Allocated|Associated)/, reason: "ADDRESS_IN_USE" },
  { status: 409, type: /InUse$/, reason: "DEPENDENCY_IN_USE" },
  { status: 409, reason: "NOT_READY" },
  { status: 413, reason: "QUOTA_EXCEEDED" },
  { status: 429, reason: "RATE_LIMITED" },
  { status: 504, reason: "CLOUD_TIMEOUT" },
];

/** What a refusal means in the contract. */
export function reasonOf({ status, type, text, retryAfterMs }: Omit<Refusal, "request">): Reason {
  // Old rate limits of Nova: a used-up quota has no time at which it is better.
  if (status === 413 && retryAfterMs !== undefined) return "RATE_LIMITED";
  if (status >= 500 && status !== 504) return "CLOUD_UNAVAILABLE";
  const fits = (rule: Rule): boolean =>
    rule.status === status && (rule.type?.test(type) ?? true) && (rule.text?.test(text) ?? true);
  return rules.find(fits)?.reason ?? "INCOMPLETE_ANSWER";
}

export function toProviderError(refusal: Refusal): ProviderError {
  const reason = reasonOf(refusal);
  const { request, status, type, text, retryAfterMs } = refusal;
  const said = [`HTTP ${status}`, type, text].filter((part) => part !== "").join(" ");
  return new ProviderError(reason, `OpenStack returned ${said} for ${request}`, {
    cause: new OpenStackRefusal(refusal),
    metadata: { http_status: String(status), ...(type === "" ? {} : { openstack_type: type }) },
    retryAfterMs: reason === "RATE_LIMITED" || reason === "CLOUD_UNAVAILABLE" ? retryAfterMs : undefined,
    ...(reason === "QUOTA_EXCEEDED" ? { quota: { subject: type === "" ? "project" : type, description: text } } : {}),
  });
}

/** True: OpenStack refused with this status. */
export function isStatus(error: unknown, status: number): boolean {
  return refusalOf(error)?.status === status;
}

function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof ProviderError && error.cause instanceof OpenStackRefusal ? error.cause.refusal : undefined;
}

/** The type and the text in the body of an error, which differ between services. */
export function readFault(body: unknown): Pick<Refusal, "type" | "text"> {
  if (typeof body === "string") return { type: "", text: body.slice(0, 300) };
  const neutron = property(body, "NeutronError");
  if (neutron !== undefined) return { type: textAt(neutron, "type"), text: textAt(neutron, "message") };
  const octavia = textAt(body, "faultstring");
  if (octavia !== "") return { type: "", text: octavia };
  // Nova, Cinder and Keystone: `{"itemNotFound": {"message": …, "code": 404}}`, `{"error": {"message": …, "title": …}}`.
  const [entry] = typeof body === "object" && body !== null ? Object.entries(body) : [];
  if (entry === undefined) return { type: "", text: "" };
  const [name, details] = entry;
  return { type: name === "error" ? textAt(details, "title") : name, text: textAt(details, "message") };
}

function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function textAt(value: unknown, key: string): string {
  const text = property(value, key);
  return typeof text === "string" ? text : "";
}
