import { expect, test } from "vitest";
import { renderSurface, withoutComments } from "./surface.ts";

test("renderSurface() names exports, their members and the parts that they name, one a line", () => {
  const part = { name: "Base", signature: "interface Base", doc: "", members: [], parts: [] };
  const member = { name: "id", signature: "id:\n  string", doc: "The ID." };
  const found = { name: "Node", signature: "interface Node", doc: "A Node.", members: [member], parts: [part] };
  expect(renderSurface([{ name: "sdk", doc: "", exports: [found] }])).toBe(
    "sdk: interface Node\nsdk: Node: id: string\nsdk: Node: interface Base\n",
  );
});

test("withoutComments() keeps everything that is on the wire", () => {
  const text = `// A Node.
message Node {
  // REQUIRED. Its ID.
  string id = 1; // never empty
  string url = 2 [default = "http://example.com"];
}
`;
  expect(withoutComments(text)).toBe(`message Node {
  string id = 1;
  string url = 2 [default = "http://example.com"];
}
`);
});
