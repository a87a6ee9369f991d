/** One sample of a scrape: its series as Prometheus writes it, and its value as text. */
export type Samples = ReadonlyMap<string, string>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** The samples of a page in Prometheus' text format, each with the labels that a scrape adds. */
export function samplesOf(text: string, added: Readonly<Record<string, string>>): Samples {
  const extra = Object.entries(added).map(([name, value]) => `${name}="${value}"`);
  const samples = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, name, labels, value] = SAMPLE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    samples.set(`${name}{${[...extra, ...(labels ? [labels] : [])].join(",")}}`, value);
  }
  return samples;
}
