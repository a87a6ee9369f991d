import type { CloudCall } from "../definition/call-context.ts";

export const tooManyRequests = 429;

/** What a proxy refused (407) is no answer of the cloud either. */
const failures = new Set([401, 403, 407, 408, tooManyRequests]);

/** True: the request was not answered, so that nothing may be concluded from it. Other statuses of 4xx are answers. */
export const isUnanswered = ({ status, error }: Pick<CloudCall, "status" | "error">): boolean =>
  error !== undefined || (status !== undefined && (status >= 500 || failures.has(status)));
