import { expect, test } from "vitest";
import { hasNext, readAll } from "./pages.ts";

const pages: Readonly<
  Record<string, { readonly items: readonly { readonly id: string }[]; readonly hasNext: boolean }>
> = {
  "": { items: [{ id: "a" }, { id: "b" }], hasNext: true },
  b: { items: [{ id: "b" }, { id: "c" }], hasNext: true },
  c: { items: [], hasNext: true },
};

test("readAll() continues behind the last item, takes each item once, and ends at an empty page", async () => {
  const markers: (string | undefined)[] = [];
  const all = await readAll(async (marker) => {
    markers.push(marker);
    return pages[marker ?? ""] ?? { items: [{ id: "never" }], hasNext: false };
  });
  expect(all.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(markers).toEqual([undefined, "b", "c"]);
});

test("hasNext() looks for the link", () => {
  expect([hasNext(undefined), hasNext([{ rel: "previous" }]), hasNext([{ rel: "next" }])]).toEqual([
    false,
    false,
    true,
  ]);
});
