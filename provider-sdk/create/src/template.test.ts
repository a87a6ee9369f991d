import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { renderTemplate } from "./template.ts";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

it("renderTemplate() asks for the version of the SDK that it was released with", async () => {
  const { version } = JSON.parse(await read("create/package.json"));
  const own = await Promise.all(
    ["typescript/package.json", "conformance/package.json"].map(async (path) => JSON.parse(await read(path)).version),
  );
  expect([...own, /= "(.*)"/.exec(await read("python/src/cloudwire_provider/_version.py"))?.[1]]).toEqual(
    Array(3).fill(version),
  );
  const [typescript, go, python] = [
    await renderTemplate("typescript", []),
    await renderTemplate("go", []),
    await renderTemplate("python", []),
  ];
  const { dependencies, devDependencies } = JSON.parse(typescript.get("package.json") ?? "");
  expect(dependencies["@cloudwire/provider-sdk"]).toBe(version);
  expect(devDependencies["@cloudwire/conformance"]).toBe(version);
  expect(go.get("go.mod")).toContain(`cloudwire.dev/provider-sdk/go v${version}\n`);
  expect(python.get("requirements.txt")).toContain(`cloudwire-provider-sdk==${version}\n`);
  for (const files of [go, python])
    expect(files.get("conformance.sh")).toContain(`--package @cloudwire/conformance@${version} `);
});
