import { flagsOfOthers } from "./foreign-flags.ts";

/** Pages that the names in guides are looked up in. */
const METRICS = "docs/reference/metrics.md";
const EVENTS = "docs/reference/events.md";
const ENDPOINTS = "docs/explanation/serving.md";
const OWN_FLAGS =
  /^(?:docs\/reference\/(?:flags|cli)|providers\/[a-z-]+\/README|provider-sdk\/typescript\/README)\.md$/;
/** Pages with instructions. */
const GUIDES = /^docs\/(?:guides|explanation)\/[a-z-]+\.md$/;

/** What names are held against: a text has the name, or there is no such thing. */
interface Kind {
  readonly what: string;
  readonly pattern: RegExp;
  readonly isKnown: (name: string) => boolean;
  readonly where: string;
}

/**
 * Names in the guides of flags, metrics, events, pages and annotations that do not exist; one sentence each.
 * @param pages path to text, every Markdown page of the tree
 * @param sources the programs' own, in which annotations and labels are spelled
 */
export function unknownNames(pages: ReadonlyMap<string, string>, sources: Iterable<string>): readonly string[] {
  const kinds = kindsOf(pages, [...sources].join("\n"));
  return [...pages]
    .filter(([path]) => GUIDES.test(path))
    .flatMap(([path, page]) =>
      page.split("\n").flatMap((line, index) =>
        kinds.flatMap(({ what, pattern, isKnown, where }) =>
          [...line.matchAll(pattern)]
            .map((match) => match.slice(1).find((group) => group !== undefined) ?? match[0])
            .filter((name) => !isKnown(name))
            .map((name) => `${path}:${index + 1} names ${what} ${name}: there is none in ${where}`),
        ),
      ),
    );
}

function kindsOf(pages: ReadonlyMap<string, string>, sources: string): readonly Kind[] {
  const textOf = (path: string): string => pages.get(path) ?? "";
  const flags = new Set(
    [...pages]
      .filter(([path]) => OWN_FLAGS.test(path))
      .flatMap(([, text]) => [...text.matchAll(FLAG)].map(([flag]) => flag)),
  );
  return [
    {
      what: "flag",
      pattern: FLAG,
      isKnown: (name) => flags.has(name) || flagsOfOthers.has(name),
      where: "docs/reference/flags.md or cli.md, a provider's README.md, or scripts/checks/docs/foreign-flags.ts",
    },
    {
      what: "metric",
      pattern: /\bcloudwire_[a-z_]*[a-z]/g,
      isKnown: (name) => textOf(METRICS).includes(name),
      where: METRICS,
    },
    {
      what: "event",
      pattern: /(?:[Ee]vents? |reason=)`?([A-Z][A-Za-z]+)\b/g,
      isKnown: (name) => textOf(EVENTS).includes(`\`${name}\``),
      where: EVENTS,
    },
    {
      what: "page",
      pattern: /`(?:GET |PUT )?(\/(?:readyz|livez|healthz|metrics|statusz|configz|flagz|debug)[a-z/]*)/g,
      // `/readyz/NAME` stands for each of its checks.
      isKnown: (name) => [name, name.replace(/\/[a-z]*$/, "/NAME")].some((path) => textOf(ENDPOINTS).includes(path)),
      where: ENDPOINTS,
    },
    {
      what: "annotation or label",
      pattern: /(?<![\w/@.])((?:[a-z]+\.)?cloudwire\.dev\/[A-Za-z-]+)/g,
      isKnown: (name) => sources.includes(name) || isPrefixed(name, sources),
      where: "the sources",
    },
  ];
}

const FLAG = /(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*/g;

/** `scope.cloudwire.dev/east`: the sources have what it begins with, and the rest is an operator's name. */
function isPrefixed(name: string, sources: string): boolean {
  const prefix = name.slice(0, name.indexOf("/") + 1);
  return (
    sources.includes(`"${prefix}"`) || sources.includes(`\`${prefix}$`) || sources.includes(`"${prefix.slice(0, -1)}"`)
  );
}

/** Links whose text is a test's title in quotes, to a file that has no such test; one sentence each. */
export function unknownTests(
  pages: ReadonlyMap<string, string>,
  tests: ReadonlyMap<string, string>,
): readonly string[] {
  return [...pages].flatMap(([path, text]) =>
    [...text.matchAll(/\["([^"\]]+)"\]\(([^)#]+\.test\.ts)\)/g)].flatMap(([, title = "", target = ""]) => {
      const file = new URL(target, `file:///${path}`).pathname.slice(1);
      return tests.get(file)?.includes(title) === true
        ? []
        : [`${path} names the test "${title}": ${file} has none of that name`];
    }),
  );
}
