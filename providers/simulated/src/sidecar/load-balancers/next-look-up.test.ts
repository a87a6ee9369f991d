import { expect, test } from "vitest";
import { NextLookUp } from "./next-look-up.ts";

interface Question {
  readonly name: string;
}

interface Run {
  readonly names: readonly string[];
  readonly signal: AbortSignal;
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** Look-ups that end when the test says so; each answers with its own number. */
function stage() {
  const runs: Run[] = [];
  const lookUps = new NextLookUp<Question, string>(
    async (questions, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<(question: Question) => string>();
      const number = runs.length + 1;
      const answer = () => resolve(({ name }) => `${name} of ${number}`);
      runs.push({ names: questions.map(({ name }) => name), signal, answer, fail: reject });
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    },
    async () => undefined,
  );
  const ask = async (name: string, signal = new AbortController().signal) =>
    lookUps.ask({ name }, signal).catch((error: unknown) => `${name} failed: ${String(error)}`);
  const run = (number: number): Run => {
    const found = runs[number - 1];
    if (!found) throw new Error(`there is no look-up ${number}`);
    return found;
  };
  return { ask, run, begun: () => runs.map(({ names }) => names) };
}

/** Lets everything run on that waits for nothing but its turn. */
const turn = async () => new Promise((resolve) => setImmediate(resolve));

test("NextLookUp asks at once, and for one only, when nothing is under way", async () => {
  const { ask, run, begun } = stage();
  const a = ask("a");
  await turn();
  expect(begun()).toEqual([["a"]]);
  run(1).answer();
  await expect(a).resolves.toBe("a of 1");
});

test("NextLookUp answers those who ask during a look-up with the next, one at a time", async () => {
  const { ask, run, begun } = stage();
  const a = ask("a");
  await turn();
  const later = [ask("b"), ask("c")];
  await turn();
  expect(begun()).toEqual([["a"]]);
  run(1).answer();
  await expect(a).resolves.toBe("a of 1");
  await turn();
  const last = ask("b");
  await turn();
  expect(begun()).toEqual([["a"], ["b", "c"]]);
  run(2).answer();
  await expect(Promise.all(later)).resolves.toEqual(["b of 2", "c of 2"]);
  await turn();
  run(3).answer();
  await expect(last).resolves.toBe("b of 3");
});

test("NextLookUp returns a failure only to the callers that waited for it", async () => {
  const { ask, run } = stage();
  const first = [ask("a"), ask("b")];
  await turn();
  const later = ask("c");
  run(1).fail(new Error("no answer"));
  await expect(Promise.all(first)).resolves.toEqual(["a failed: Error: no answer", "b failed: Error: no answer"]);
  await turn();
  run(2).answer();
  await expect(later).resolves.toBe("c of 2");
});

test("NextLookUp lets one give up without the others", async () => {
  const { ask, run } = stage();
  const caller = new AbortController();
  const [a, b] = [ask("a", caller.signal), ask("b")];
  await turn();
  caller.abort("enough");
  await expect(a).resolves.toBe("a failed: enough");
  expect(run(1).signal.aborted).toBe(false);
  run(1).answer();
  await expect(b).resolves.toBe("b of 1");
});

test("NextLookUp ends a look-up that everybody has left, and goes on with the next", async () => {
  const { ask, run, begun } = stage();
  const caller = new AbortController();
  const a = ask("a", caller.signal);
  await turn();
  const b = ask("b");
  caller.abort("enough");
  await expect(a).resolves.toBe("a failed: enough");
  expect(run(1).signal.aborted).toBe(true);
  await turn();
  expect(begun()).toEqual([["a"], ["b"]]);
  run(2).answer();
  await expect(b).resolves.toBe("b of 2");
});

test("NextLookUp asks nothing for those who gave up before its turn, and serves who comes after them", async () => {
  const { ask, run, begun } = stage();
  const a = ask("a");
  await turn();
  const caller = new AbortController();
  const b = ask("b", caller.signal);
  caller.abort("enough");
  await expect(b).resolves.toBe("b failed: enough");
  await expect(ask("d", caller.signal)).resolves.toBe("d failed: enough");
  const c = ask("c");
  run(1).answer();
  await expect(a).resolves.toBe("a of 1");
  await turn();
  expect(begun()).toEqual([["a"], ["c"]]);
  run(2).answer();
  await expect(c).resolves.toBe("c of 2");
});
