/** Where the version of Cloudwire stands. The one of the top package.json counts; all others have to be the same. */
interface Place {
  /** Which files. */
  readonly files: RegExp;
  /** What comes right before the version. */
  readonly before: string;
}

/** One version in one file. */
export interface FoundVersion {
  readonly path: string;
  readonly line: number;
  readonly version: string;
}

const OWN_PACKAGE = String.raw`"@cloudwire/[\w-]+": "`;
const NUMBER = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;
const WORKSPACE = /^(?!.*\/templates\/|scripts\/suites\/mutation\/).*package\.json$/;

const PLACES: readonly Place[] = [
  { files: WORKSPACE, before: `^  "version": "` },
  { files: /package\.json$|^package-lock\.json$/, before: OWN_PACKAGE },
  { files: /^package-lock\.json$/, before: String.raw`"name": "(?:@cloudwire/[\w-]+|cloudwire)",\n\s+"version": "` },
  { files: /^deploy\/charts\/[\w-]+\/Chart\.yaml$/, before: "^(?:appVersion|version): " },
  { files: /^provider-sdk\/python\/src\/cloudwire_provider\/_version\.py$/, before: '__version__ = "' },
  { files: /^provider-sdk\/go\/internal\/server\/version\.go$/, before: 'SDKVersion = "' },
  { files: /^provider-sdk\/typescript\/src\/server\/version\.ts$/, before: 'sdkVersion = "' },
  { files: /^providers\/\w+\/src\/(?:sidecar\/)?provider\.ts$/, before: '^    version: "' },
  { files: /^providers\/simulated-go\/main\.go$/, before: 'Version: "' },
  { files: /^providers\/simulated-python\/main\.py$/, before: 'version="' },
  {
    files: /^(?:docs\/guides\/quick-start|docs\/reference\/images|deploy\/README)\.md$/,
    before: String.raw`(?:\$name|cloudwire-[\w-]+):`,
  },
  // What a new project depends on; its own version is its vendor's.
  { files: /\/templates\/\w+\/conformance\.sh$/, before: "@cloudwire/conformance@" },
  { files: /\/templates\/go\/go\.mod$/, before: "provider-sdk/go v" },
  { files: /\/templates\/python\/requirements\.txt$/, before: "cloudwire-provider-sdk==" },
];

/** Every version of Cloudwire in the files, and places that no longer exist. */
export function versionsIn(files: ReadonlyMap<string, string>): {
  readonly found: readonly FoundVersion[];
  readonly lost: readonly string[];
} {
  const found: FoundVersion[] = [];
  const lost: string[] = [];
  for (const place of PLACES) {
    const before = found.length;
    for (const [path, text] of files) {
      if (!place.files.test(path)) continue;
      for (const { 0: all, index } of text.matchAll(pattern(place)))
        found.push({ path, line: lineOf(text, index + all.length), version: versionAtEnd(all) });
    }
    if (found.length === before) lost.push(`nothing is found any more of ${place.before} in ${place.files.source}`);
  }
  return { found, lost };
}

/** The files that change when all get this version. */
export function withVersion(files: ReadonlyMap<string, string>, version: string): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  for (const [path, text] of files) {
    const places = PLACES.filter((place) => place.files.test(path));
    const next = places.reduce(
      (current, place) => current.replace(pattern(place), (all) => all.replace(AT_END, version)),
      text,
    );
    if (next !== text) changed.set(path, next);
  }
  return changed;
}

/** A version that can be released: of three numbers, and perhaps a word such as `-rc.1`. */
export function isVersion(text: string): boolean {
  return new RegExp(`^${NUMBER}$`).test(text);
}

const AT_END = new RegExp(`${NUMBER}$`);

function pattern({ before }: Place): RegExp {
  return new RegExp(`${before}${NUMBER}`, "gm");
}

function versionAtEnd(text: string): string {
  return AT_END.exec(text)?.[0] ?? "";
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
