import type { ServerUnderTest } from "./clusters.ts";
import { type Answer, type OpenWatch, type RequestOptions, openWatch, send } from "./client.ts";

/** What one request came to, as it is compared. */
export type Exchange =
  | {
      readonly kind: "call";
      readonly request: string;
      readonly status: number;
      readonly contentType: string;
      readonly warnings: readonly string[];
      readonly body: unknown;
    }
  | { readonly kind: "watch"; readonly request: string; readonly events: readonly unknown[]; readonly ended: boolean }
  | { readonly kind: "note"; readonly request: string; readonly value: unknown };

export interface WatchPlan {
  /** Events to wait for; the watch is closed when there are as many. Without it, the server has to end the watch. */
  readonly events?: number;
  /** What happens while the watch is open. */
  readonly during?: () => Promise<void>;
}

/** Sends the calls of a scenario to one cluster and keeps what comes back. */
export interface Recorder {
  readonly exchanges: readonly Exchange[];
  readonly call: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
  /** As call, but not compared: for preparing and cleaning up. */
  readonly quietly: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
  readonly watch: (path: string, plan?: WatchPlan, options?: RequestOptions) => Promise<void>;
  /** Compares something that the scenario made out of answers. */
  readonly note: (what: string, value: unknown) => void;
  /** Makes the server forget its history. */
  readonly forget: () => Promise<void>;
}

const patience = { attempts: 400, intervalMs: 25 };

export function createRecorder(endpoint: ServerUnderTest): Recorder {
  const exchanges: Exchange[] = [];
  const quietly = (method: string, path: string, options?: RequestOptions): Promise<Answer> =>
    send(endpoint, method, path, options);
  const record = (request: string, { status, contentType, warnings, body }: Answer): void => {
    exchanges.push({ kind: "call", request, status, contentType, warnings, body });
  };
  return {
    exchanges,
    quietly,
    forget: endpoint.forget,
    note: (what, value) => {
      exchanges.push({ kind: "note", request: what, value });
    },
    call: async (method, path, options) => {
      const answer = await quietly(method, path, options);
      record(`${method} ${path}`, answer);
      return answer;
    },
    watch: async (path, plan = {}, options = {}) => {
      const opened = await openWatch(endpoint, path, options);
      if (opened.kind === "refused") {
        record(`WATCH ${path}`, opened.answer);
        return;
      }
      await plan.during?.();
      await settle(opened.watch, plan.events);
      // The state at the end says whether a surplus event came.
      exchanges.push({
        kind: "watch",
        request: `WATCH ${path}`,
        events: [...opened.watch.events],
        ended: opened.watch.ended(),
      });
      opened.watch.close();
    },
  };
}

async function settle(watch: OpenWatch, events: number | undefined): Promise<void> {
  for (let attempt = 0; attempt < patience.attempts; attempt += 1) {
    if (watch.ended() || (events !== undefined && watch.events.length >= events)) return;
    await new Promise((resolve) => {
      setTimeout(resolve, patience.intervalMs);
    });
  }
}
