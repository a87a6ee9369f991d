/** A series at equal steps; undefined: there was none. */
export type Values = readonly (number | undefined)[];

/** Prometheus' notation for series in tests of rules: `1+0x3 _x2 5`. */
export function toNotation(values: Values): string {
  const words: string[] = [];
  for (let index = 0; index < values.length; ) {
    const length = runLength(values, index);
    words.push(wordOf(values[index], values[index + 1], length));
    index += length;
  }
  return words.join(" ");
}

/** How many values from `start` on are nothing at all, or grow by the same. */
function runLength(values: Values, start: number): number {
  const [first, second] = [values[start], values[start + 1]];
  let length = 1;
  if (first === undefined) {
    while (start + length < values.length && values[start + length] === undefined) length += 1;
    return length;
  }
  if (second === undefined) return 1;
  const step = second - first;
  while (start + length < values.length && values[start + length] === first + step * length) length += 1;
  // Two values make no run: each may begin one of its own.
  return length === 2 && step !== 0 ? 1 : length;
}

function wordOf(first: number | undefined, second: number | undefined, length: number): string {
  if (first === undefined) return length === 1 ? "_" : `_x${length}`;
  if (length === 1 || second === undefined) return `${first}`;
  const step = second - first;
  return `${first}${step < 0 ? "-" : "+"}${Math.abs(step)}x${length - 1}`;
}

const WORD = /^(?:(_)|(-?[\d.e]+(?:e[+-]\d+)?|NaN|[+-]?Inf))(?:([+-][\d.]+(?:e[+-]?\d+)?)?x(\d+))?$/;

/** The reverse of {@link toNotation}. */
export function fromNotation(text: string): Values {
  return text.split(" ").flatMap((word) => {
    const [, nothing, first = "", step = "0", count] = WORD.exec(word) ?? [];
    if (nothing !== undefined) return Array.from({ length: Number(count ?? 1) }, () => undefined);
    if (first === "") throw new Error(`"${word}" is no value of a series`);
    const length = count === undefined ? 1 : Number(count) + 1;
    return Array.from({ length }, (_, index) => Number(first) + Number(step) * index);
  });
}
