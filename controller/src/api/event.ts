import type { ObjectReference } from "./meta.ts";

/** What a controller wants to say about an object. The recorder gives it a name, times and a count. */
export interface EventInput {
  readonly regarding: ObjectReference;
  readonly type: EventType;
  /** UpperCamelCase, from event-reasons.ts. */
  readonly reason: string;
  /** At most 1,024 bytes reach the server; the recorder cuts the rest. */
  readonly message: string;
}

export type EventType = "Normal" | "Warning";

/** core/v1 Event as sent to and read back from the server. */
export interface Event {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly involvedObject: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  readonly count: number;
  readonly firstTimestampMs: number;
  readonly lastTimestampMs: number;
}
