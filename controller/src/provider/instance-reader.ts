import type { Node } from "../api/node.ts";
import type { ReadOptions } from "./client.ts";
import type { InstanceAnswer } from "./instance.ts";

/**
 * Looks up the machine behind one Node. Questions that arrive together leave as one call; the same question is asked once;
 * answers are reused for as long as the caller's `maxDataAgeMs` allows.
 */
export interface InstanceReader {
  /**
   * Resolves with what is known; a failed call is the answer "unknown", a Node that no provider owns is "notMine". Rejects
   * only with the reason of `options.signal`, which gives up this caller's wait and nobody else's.
   */
  get(node: Node, options: ReadOptions): Promise<InstanceAnswer>;
}
