/** What an image weighs on one platform. */
export interface ImageSize {
  readonly name: string;
  /** `amd64`. */
  readonly architecture: string;
  readonly layers: readonly LayerSize[];
}

export interface LayerSize {
  readonly digest: string;
  readonly compressedBytes: number;
  readonly unpackedBytes: number;
}

/** How long the controller takes to say its version. */
export interface StartTimes {
  readonly containerMs: readonly number[];
  readonly programMs: readonly number[];
  /** Processor time of the program, in all of its processes. */
  readonly processorMs: readonly number[];
}

export interface Measurements {
  readonly version: string;
  /** Of the measurement: 2026-11-23. */
  readonly day: string;
  readonly sizes: readonly ImageSize[];
  readonly starts: StartTimes;
  /** The engine and the runtime, with versions. */
  readonly engine: string;
  readonly processors: number;
  /** Tasks that wanted a processor, on average over the last minute, at the start of the measurement. */
  readonly load: number;
}

const BEGIN = "<!-- Written by npm run image-report -w @cloudwire/test. -->";
const END = "<!-- End of what is written. -->";

/** The page with the measurements in the place of those that it had. */
export function withMeasurements(page: string, measurements: Measurements): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin)
    throw new Error(`the page has no place for measurements, between ${BEGIN} and ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${textOf(measurements)}\n${page.slice(end)}`;
}

function textOf({ version, day, sizes, starts, engine, processors, load }: Measurements): string {
  const architectures = [...new Set(sizes.map(({ architecture }) => architecture))].toSorted();
  const names = [...new Set(sizes.map(({ name }) => name))];
  const shared = sharedOf(sizes);
  const head = ["image", ...architectures.map((one) => `compressed, ${one}`), "of that shared by all", "unpacked"];
  const rows = names.map((name) => {
    const of = architectures.flatMap((one) => sizes.filter((size) => size.name === name && size.architecture === one));
    const [first] = of;
    return [
      `\`${name}\``,
      ...of.map(({ layers }) => megabytes(sum(layers.map(({ compressedBytes }) => compressedBytes)))),
      megabytes(shared),
      megabytes(sum((first?.layers ?? []).map(({ unpackedBytes }) => unpackedBytes))),
    ];
  });
  const [architecture = ""] = architectures;
  return `${table([head, head.map(() => "---"), ...rows])}
Sums of the layers of version ${version}, on ${day}; what is shared and what is unpacked are those of ${architecture}. All ${names.length} together take ${megabytes(
    wholeOf(sizes.filter((size) => size.architecture === architecture)),
  )} of a registry or a node, for each platform.

A hardened container of the controller, made and removed for \`--version\`, took ${seconds(median(starts.containerMs))} under ${engine}; the program without a container
${seconds(median(starts.programMs))}, of which ${seconds(median(starts.processorMs))} of processor time, Node's own start, twice for the launcher, included. Medians of ${
    starts.containerMs.length
  } on a machine with ${processors} processors and a load of ${load.toFixed(1)} when it began.
[0015](../decisions/0015-one-file-per-program.md) has what a start costs until the controller leads.
`;
}

function table(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** Compressed bytes of the layers that every image of the first platform has. */
function sharedOf(sizes: readonly ImageSize[]): number {
  const [first] = sizes;
  const alike = sizes.filter(({ architecture }) => architecture === first?.architecture);
  const inAll = (first?.layers ?? []).filter(({ digest }) =>
    alike.every(({ layers }) => layers.some((layer) => layer.digest === digest)),
  );
  return sum(inAll.map(({ compressedBytes }) => compressedBytes));
}

/** Compressed bytes, each layer once. */
function wholeOf(sizes: readonly ImageSize[]): number {
  const layers = sizes.flatMap((size) =>
    size.layers.map(({ digest, compressedBytes }) => [digest, compressedBytes] as const),
  );
  return sum([...new Map(layers).values()]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
