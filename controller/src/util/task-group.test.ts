import { describe, expect, test } from "vitest";
import { settle } from "../../test/support/fake-clock.ts";
import { aborted } from "./abort.ts";
import { TaskGroup } from "./task-group.ts";

describe("TaskGroup", () => {
  test("aborts its tasks and waits for them to end", async () => {
    const group = new TaskGroup(() => undefined);
    let ended = 0;
    const task = async (signal: AbortSignal): Promise<void> => {
      await aborted(signal);
      ended++;
    };
    group.start("a", task);
    group.start("b", task);
    expect(group.running).toEqual(["a", "b"]);
    await group.stop(new Error("shutdown"));
    expect(ended).toBe(2);
    expect(group.running).toEqual([]);
  });

  test("reports a task that fails, but not one that ends because it was stopped", async () => {
    const failed: string[] = [];
    const group = new TaskGroup((name) => failed.push(name));
    group.start("breaks", () => Promise.reject(new Error("no")));
    group.start("cancelled", async (signal) => {
      await aborted(signal);
      throw new Error("cut short");
    });
    await settle();
    await group.stop(new Error("shutdown"));
    expect(failed).toEqual(["breaks"]);
  });

  test("gives up waiting at its limit", async () => {
    const group = new TaskGroup(() => undefined);
    group.start("hangs", () => new Promise(() => undefined));
    const limit = new AbortController();
    const stopped = group.stop(new Error("shutdown"), limit.signal);
    limit.abort(new Error("too long"));
    await expect(stopped).rejects.toThrow("too long");
  });
});
