import { expect, test } from "vitest";
import { type Measurements, withMeasurements } from "./measurements.ts";

const layer = (digest: string, megabytes: number) => ({
  digest,
  compressedBytes: megabytes * 1e6,
  unpackedBytes: megabytes * 3e6,
});

const MEASUREMENTS: Measurements = {
  version: "1.2.3",
  day: "2026-11-23",
  sizes: [
    { name: "one", architecture: "amd64", layers: [layer("base", 40), layer("one", 2)] },
    { name: "one", architecture: "arm64", layers: [layer("base-arm", 39), layer("one", 2)] },
    { name: "two", architecture: "amd64", layers: [layer("base", 40), layer("two", 3.25)] },
    { name: "two", architecture: "arm64", layers: [layer("base-arm", 39), layer("two", 3.25)] },
  ],
  starts: { containerMs: [1900, 300, 600], programMs: [200, 210, 190], processorMs: [350, 360, 340] },
  engine: "podman 4 and runc 1",
  processors: 2,
  load: 0.27,
};

const BEGIN = "<!-- Written by npm run image-report -w @cloudwire/test. -->";
const END = "<!-- End of what is written. -->";

test("withMeasurements() puts a table and sentences in the place of those before", () => {
  const page = withMeasurements(`# Images\n\n${BEGIN}\n\nold\n${END}\n\n## More\n`, MEASUREMENTS);
  expect(page).toMatch(/^# Images\n\n<!-- Written/);
  expect(page.endsWith(`${END}\n\n## More\n`)).toBe(true);
  expect(page).not.toContain("old");
  expect(page.split("\n").filter((line) => line.startsWith("|"))).toEqual([
    "| image | compressed, amd64 | compressed, arm64 | of that shared by all | unpacked |",
    "| --- | --- | --- | --- | --- |",
    "| `one` | 42.0 MB | 41.0 MB | 40.0 MB | 126.0 MB |",
    "| `two` | 43.3 MB | 42.3 MB | 40.0 MB | 129.8 MB |",
  ]);
  expect(page).toContain("All 2 together take 45.3 MB");
  expect(page).toContain(
    "took 0.60 s under podman 4 and runc 1; the program without a container\n0.20 s, of which 0.35 s",
  );
  expect(withMeasurements(page, MEASUREMENTS)).toBe(page);
});

test("withMeasurements() refuses a page without a place for them", () => {
  expect(() => withMeasurements("# Images\n", MEASUREMENTS)).toThrow("no place for measurements");
});
