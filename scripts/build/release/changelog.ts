const VERSION_HEADING = /^## \[?v?(\d[\w.-]*|Unreleased)\]?(?: .*)?$/m;

/** What the changelog says of a version, without its heading; undefined: nothing. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const parts = changelog.split(/^(?=## )/m);
  const own = parts.find((part) => VERSION_HEADING.exec(part)?.[1] === version);
  const text = own?.slice(own.indexOf("\n")).trim();
  return text === undefined || text === "" ? undefined : text;
}

/** What needs a hand at an upgrade comes first, and again in its place. */
export function releaseNotes(changelog: string, version: string): string | undefined {
  const section = sectionOf(changelog, version);
  if (section === undefined) return undefined;
  const actions = section
    .split(/^(?=- )/m)
    .filter((entry) => entry.startsWith("- ") && entry.includes("Action required"));
  const first = actions.map((entry) => entry.replace(/\n\n?(?:#+ [^\n]*\n?)[^]*$/, "").trimEnd());
  return [
    `# Cloudwire ${version}`,
    ...(first.length === 0 ? [] : ["## Action required", first.join("\n")]),
    section,
  ].join("\n\n");
}
