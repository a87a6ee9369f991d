import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { contractError } from "../model/errors.ts";
import type { WatchEvent } from "../model/client.ts";
import { watchLoop } from "./watches.ts";

type Hint = { readonly kind: string };

/** A stream that the test feeds; several in a row as they are opened. */
class FakeStreams {
  readonly opened: (readonly [token: string, initial: boolean])[] = [];
  #push: (message: WatchEvent<Hint> | Error) => void = () => undefined;

  async *open(token: string, initial: boolean, signal: AbortSignal): AsyncGenerator<WatchEvent<Hint>, void, undefined> {
    this.opened.push([token, initial]);
    const waiting: (WatchEvent<Hint> | Error)[] = [];
    let wake: () => void = () => undefined;
    this.#push = (message) => {
      waiting.push(message);
      wake();
    };
    signal.addEventListener("abort", () => this.#push(contractError("PROVIDER_DRAINING", "cancelled")), { once: true });
    for (;;) {
      const next = waiting.shift();
      if (next instanceof Error) throw next;
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  async send(kind: string, resumeToken: string): Promise<void> {
    this.#push({ hint: { kind }, resumeToken });
    await settle();
  }

  async fail(error: Error): Promise<void> {
    this.#push(error);
    await settle();
  }
}

let clock: FakeClock;
let streams: FakeStreams;
let stop: AbortController;
let seen: string[];
let ended: unknown;

beforeEach(() => {
  clock = new FakeClock();
  streams = new FakeStreams();
  stop = new AbortController();
  seen = [];
  ended = undefined;
});

async function watch(resumeToken = "", sendInitialEvents = true): Promise<void> {
  const loop = watchLoop<Hint>(
    { clock, random: () => 0, open: (token, initial, signal) => streams.open(token, initial, signal) },
    { signal: stop.signal, resumeToken, sendInitialEvents },
  );
  const consume = async (): Promise<void> => {
    for await (const { hint } of loop) seen.push(hint.kind);
  };
  void consume().then(
    () => (ended = "done"),
    (error: unknown) => (ended = error),
  );
  await settle();
}

describe("watchLoop()", () => {
  test("goes on by token after a break, without telling", async () => {
    await watch();
    await streams.send("upsert", "t1");
    await streams.fail(contractError("PROVIDER_DRAINING", "restart"));
    await clock.advance(1000);
    await streams.send("gone", "t2");
    expect(seen).toEqual(["upsert", "gone"]);
    expect(streams.opened).toEqual([
      ["", true],
      ["t1", false],
    ]);
  });

  test("requests a new list when there is no token to resume from", async () => {
    await watch();
    await streams.send("upsert", "");
    await streams.fail(contractError("PROVIDER_DRAINING", "restart"));
    await clock.advance(1000);
    expect(seen).toEqual(["upsert", "resync"]);
    expect(streams.opened).toEqual([
      ["", true],
      ["", false],
    ]);
  });

  test("requests a new list when the token has expired", async () => {
    await watch("old", false);
    await streams.fail(contractError("RESUME_TOKEN_EXPIRED", "too old"));
    await clock.advance(1000);
    expect(seen).toEqual(["resync"]);
    expect(streams.opened).toEqual([
      ["old", false],
      ["", false],
    ]);
  });

  test("reopens a stream that has been silent for 90 s", async () => {
    await watch();
    await streams.send("bookmark", "t1");
    await clock.advance(89_999);
    expect(streams.opened).toHaveLength(1);
    await clock.advance(1001);
    expect(streams.opened.at(-1)).toEqual(["t1", false]);
  });

  test("reopens a stream after half an hour, busy or not", async () => {
    await watch();
    for (let minute = 0; minute < 30; minute++) {
      await streams.send("bookmark", `t${minute}`);
      await clock.advance(60_000);
    }
    await clock.advance(1000);
    expect(streams.opened.at(-1)).toEqual(["t29", false]);
  });

  test("waits longer after each failure in a row, and not after a success", async () => {
    await watch();
    const waits: (number | undefined)[] = [];
    for (let failure = 0; failure < 3; failure++) {
      await streams.fail(contractError("CLOUD_UNAVAILABLE", "down"));
      waits.push(clock.nextTimerMs);
      await clock.advance(clock.nextTimerMs ?? 0);
    }
    await streams.send("upsert", "t1");
    await streams.fail(contractError("CLOUD_UNAVAILABLE", "down"));
    expect([...waits, clock.nextTimerMs]).toEqual([500, 1000, 2000, 500]);
  });

  test("ends with the error of a provider that does not support the stream", async () => {
    await watch();
    await streams.fail(contractError("CAPABILITY_ABSENT", "no watch"));
    expect(ended).toMatchObject({ reason: "CAPABILITY_ABSENT" });
  });

  test("ends on request and leaves no timer behind", async () => {
    await watch();
    await streams.send("upsert", "t1");
    stop.abort(new Error("shutting down"));
    await settle();
    expect(ended).toBe("done");
    expect(clock.timers).toBe(0);
  });
});
