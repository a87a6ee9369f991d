import { expect, test } from "vitest";
import { releaseNotes, sectionOf } from "./changelog.ts";

const CHANGELOG = `# Changelog

For people.

## Unreleased

### Added

- Something new.

## 0.2.0 (2026-12-01)

### Changed

- One thing.
- Another. Action required: set
  the flag.

### Fixed

- A fault.

## [0.1.0] - 2026-11-01
`;

test.each([
  ["Unreleased", "### Added\n\n- Something new."],
  ["0.2.0", "### Changed\n\n- One thing.\n- Another. Action required: set\n  the flag.\n\n### Fixed\n\n- A fault."],
  ["0.1.0", undefined],
  ["0.2", undefined],
])("sectionOf() answers what is said of %s", (version, wanted) => {
  expect(sectionOf(CHANGELOG, version)).toBe(wanted);
});

test("releaseNotes() puts first what needs a hand", () => {
  expect(releaseNotes(CHANGELOG, "0.2.0")).toBe(
    "# Cloudwire 0.2.0\n\n## Action required\n\n- Another. Action required: set\n  the flag.\n\n### Changed\n\n- One thing.\n- Another. Action required: set\n  the flag.\n\n### Fixed\n\n- A fault.",
  );
});

test("releaseNotes() has no such part where nothing does", () => {
  expect(releaseNotes(CHANGELOG, "Unreleased")).toBe("# Cloudwire Unreleased\n\n### Added\n\n- Something new.");
  expect(releaseNotes(CHANGELOG, "9.9.9")).toBeUndefined();
});
