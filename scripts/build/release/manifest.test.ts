import { expect, test } from "vitest";
import { publishedManifest } from "./manifest.ts";

const MANIFEST = {
  name: "@cloudwire/one",
  version: "1.0.0",
  private: true,
  scripts: { gen: "x" },
  devDependencies: { a: "1" },
  dependencies: { b: "1" },
  exports: {
    ".": { development: "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./x": "./x.js",
  },
};

test("publishedManifest() takes off what is this repository's affair, and sources that are not packed", () => {
  expect(publishedManifest(MANIFEST, { directory: "one", engines: { node: ">=24" } })).toEqual({
    name: "@cloudwire/one",
    version: "1.0.0",
    dependencies: { b: "1" },
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./x": "./x.js" },
    engines: { node: ">=24" },
    publishConfig: { access: "public" },
  });
});

test("publishedManifest() enables provenance if the source is known", () => {
  const source = "git+https://git.example.com/cloudwire.git";
  expect(publishedManifest({ name: "one" }, { source, directory: "a/one", engines: {} })).toMatchObject({
    repository: { type: "git", url: source, directory: "a/one" },
    publishConfig: { access: "public", provenance: true },
  });
});
