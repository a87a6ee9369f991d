/** One family of a scrape. */
export interface Family {
  readonly name: string;
  readonly kind: string;
  /** Names, sorted; a family without samples shows none. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram but for the last. */
  readonly buckets: readonly number[];
}

/** Bounds that are made by multiplication end in noise. */
const DIGITS = 10;

/** The families of a page in Prometheus' text format, in its order. */
export function familiesOf(text: string): readonly Family[] {
  const [, ...parts] = text.split(/^# TYPE /m);
  return parts.map((part) => {
    const [head = "", ...lines] = part.split("\n");
    const [name = "", kind = ""] = head.split(" ");
    const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
    const labels = new Set(
      samples.flatMap((line) => [...line.matchAll(/[{,]([a-zA-Z_]\w*)="/g)].map(([, label = ""]) => label)),
    );
    labels.delete("le");
    const bounds = new Set(samples.flatMap((line) => /\ble="([\d.e+-]+)"/.exec(line)?.[1] ?? []));
    const buckets = [...bounds].map((bound) => Number(Number(bound).toPrecision(DIGITS)));
    return { name, kind, labels: [...labels].toSorted(), buckets };
  });
}
