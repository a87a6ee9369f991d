import type { EventInput } from "../../api/event.ts";

/** Says something about an object, for `kubectl describe`. Never blocks, never fails: what cannot be sent is counted. */
export interface EventRecorder {
  record(event: EventInput): void;
}
