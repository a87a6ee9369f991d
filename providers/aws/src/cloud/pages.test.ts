import { expect, test } from "vitest";
import { readAll, readPages } from "./pages.ts";

const pages: Readonly<Record<string, { readonly items: readonly number[]; readonly next: string | undefined }>> = {
  first: { items: [1, 2], next: "second" },
  second: { items: [], next: "third" },
  third: { items: [3], next: "" },
};
const read = async (token = "first") => pages[token] ?? { items: [], next: undefined };

test("readAll() reads until no page follows, over empty ones", async () => {
  expect(await readAll(read)).toEqual([1, 2, 3]);
});

test("readPages() asks for a page only when it is wanted", async () => {
  const asked: (string | undefined)[] = [];
  const walk = readPages(async (token) => {
    asked.push(token);
    return read(token);
  });
  await walk.next();
  expect(asked).toEqual([undefined]);
});
