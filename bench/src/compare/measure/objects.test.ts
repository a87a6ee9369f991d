import { expect, test } from "vitest";
import { areDone } from "./objects.ts";

const PATHS = Array.from({ length: 100 }, (_, index) => `/nodes/${index}`);

/** Chance always takes the first. Nodes of which the first so many are done, and how often each look was taken. */
function cluster(done: number) {
  const looks = { single: 0, all: 0 };
  const kube = {
    get: (path: string) => {
      looks.single += 1;
      return Promise.resolve({ done: Number(path.split("/").at(-1)) < done });
    },
  };
  const sampled = {
    paths: PATHS,
    isDone: (object: object) => "done" in object && object.done === true,
    areAllDone: () => {
      looks.all += 1;
      return Promise.resolve(done === PATHS.length);
    },
  };
  return { looks, areDone: () => areDone(kube, () => 0, sampled) };
}

test.each([
  ["after one read where nothing is done", 0, false, { single: 1, all: 0 }],
  ["by a look at all where chance shows only what is done", 99, false, { single: 10, all: 1 }],
  ["by a look at all where all are done", 100, true, { single: 10, all: 1 }],
])("areDone() knows %s", async (_sentence, done, expected, looks) => {
  const nodes = cluster(done);
  expect(await nodes.areDone()).toBe(expected);
  expect(nodes.looks).toEqual(looks);
});
