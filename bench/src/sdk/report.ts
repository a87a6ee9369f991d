import { markdownTable } from "../lib/markdown-table.ts";
import { median } from "../lib/statistics.ts";
import type { Life } from "./measure.ts";

/** The first one is what the others are compared with. */
export type Lives = ReadonlyMap<string, readonly Life[]>;

interface Row {
  readonly title: string;
  readonly unit: string;
  readonly of: (life: Life) => number;
  /** What the TypeScript SDK has promised, if anything. */
  readonly goal?: number;
}

const bytesPerMb = 1e6;

const rows: readonly Row[] = [
  { title: "start to first answer", unit: "ms", of: ({ servingMs }) => servingMs, goal: 400 },
  { title: "CPU until then", unit: "ms", of: ({ startCpuMs }) => startCpuMs },
  { title: "RSS at rest", unit: "MB", of: ({ rssBytes }) => rssBytes / bytesPerMb, goal: 70 },
  { title: "PSS at rest", unit: "MB", of: ({ pssBytes }) => pssBytes / bytesPerMb },
];

/** Medians with the least and the most; beside the others how many times the first one's they are. */
export function sdkTable(lives: Lives): string {
  const names = [...lives.keys()];
  return markdownTable([
    ["", "goal", ...names],
    ...rows.map(({ title, unit, of, goal }) => {
      const [first = Number.NaN] = names.map((name) => median((lives.get(name) ?? []).map(of)));
      const cells = names.map((name, index) => {
        const values = (lives.get(name) ?? []).map(of);
        const middle = median(values);
        const range = `${format(Math.min(...values))}–${format(Math.max(...values))}`;
        const ratio = index === 0 ? "" : `, ${(middle / first).toFixed(2)}×`;
        return `${format(middle)} (${range})${ratio}`;
      });
      return [`${title}, ${unit}`, goal === undefined ? "" : `< ${goal}`, ...cells];
    }),
  ]);
}

/** The promises that the first one does not keep. */
export function missedGoals(lives: Lives): readonly string[] {
  const [name = "", first = []] = [...lives][0] ?? [];
  return rows.flatMap(({ title, unit, of, goal = Number.POSITIVE_INFINITY }) => {
    const got = median(first.map(of));
    return got < goal ? [] : [`${name}, ${title}: ${format(got)} ${unit}, wanted less than ${goal}`];
  });
}

const format = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));
