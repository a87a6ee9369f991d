import type { Violation } from "./violation.ts";

/** The bounds of a batch; `capability` names what declares them. */
export const checkBatch = (field: string, items: readonly unknown[], maxBatchSize: number): readonly Violation[] => {
  if (items.length === 0) return [{ reason: "BATCH_EMPTY", field, description: "is empty" }];
  if (items.length <= maxBatchSize) return [];
  const description = `has ${items.length} items; at most ${maxBatchSize} are served at once`;
  return [{ reason: "BATCH_TOO_LARGE", field, description, metadata: { limit: String(maxBatchSize) } }];
};

/** The page size wished for: 0 and more is fine, the rest is cut later. */
export const checkPage = (request: { readonly pageSize: number }): readonly Violation[] =>
  request.pageSize < 0
    ? [
        {
          reason: "PAGE_SIZE_INVALID",
          field: "page_size",
          description: `is ${request.pageSize}; it must not be negative`,
        },
      ]
    : [];

/** What opens a watch: continuing after a token and beginning with everything exclude each other. */
export const checkWatch = (request: {
  readonly resumeToken: string;
  readonly sendInitialEvents: boolean;
}): readonly Violation[] =>
  request.resumeToken !== "" && request.sendInitialEvents
    ? [{ reason: "FIELD_INVALID", field: "send_initial_events", description: "is not possible with resume_token" }]
    : [];
