/** The suffixes of k8s.io/apimachinery's resource.Quantity, by format. */
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const decimalSuffixes = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);

/** Everything is counted in billionths: no Quantity is finer. */
const nano = 1_000_000_000n;
const nanosPerMilli = 1_000_000n;

type Format = "binary" | "decimal" | "exponent";

/** A parsed amount, exact down to billionths. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: Format;
}

/** Reads a quantity such as "1500m", "2Gi", "1e3" or "0.5"; undefined when it is none. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?)(\d+\.?\d*|\.\d+)(.*)$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", digits = "", suffix = ""] = match;
  const scale = readSuffix(suffix);
  if (scale === undefined) return undefined;
  const [whole = "", fraction = ""] = digits.split(".");
  const numerator = BigInt(whole + fraction) * scale.numerator * nano;
  const denominator = 10n ** BigInt(fraction.length) * scale.denominator;
  // Finer than a billionth is rounded away from zero, as upstream does.
  const magnitude = (numerator + denominator - 1n) / denominator;
  return { nanos: sign === "-" ? -magnitude : magnitude, format: scale.format };
}

/** The text as the real server gives it back, undefined when it is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = parseQuantity(text);
  if (quantity === undefined || keepsText(text)) return quantity === undefined ? undefined : text;
  return formatQuantity(quantity);
}

/** The amount with parts smaller than a thousandth rounded up, as API defaulting does with lists of resources. */
export function roundUpToMilli(text: string): string {
  const quantity = parseQuantity(text);
  const parts = quantity === undefined ? 0n : quantity.nanos % nanosPerMilli;
  if (quantity === undefined || parts === 0n) return text;
  const away = quantity.nanos < 0n ? -nanosPerMilli : nanosPerMilli;
  return formatQuantity({ ...quantity, nanos: quantity.nanos - parts + away });
}

/** Whether the real server takes the text for canonical, though it may have a plus sign or a capital E (resource.ParseQuantity, v0.36). */
function keepsText(text: string): boolean {
  const [, whole = "", fraction = "", suffix = ""] = /^[+-]?(\d*)\.?(\d*)(.*)$/.exec(text) ?? [];
  const digits = whole + fraction;
  if (binarySuffixes.indexOf(suffix) > 0) return fraction === "" && digits.length < 12 && (BigInt(digits) & 7n) !== 0n;
  const power = decimalSuffixes.get(suffix) ?? Number(suffix.slice(1));
  const scale = power - fraction.length;
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

/** The canonical text: the largest suffix that needs no fraction. */
function formatQuantity(quantity: Quantity): string {
  if (quantity.nanos === 0n) return "0";
  const sign = quantity.nanos < 0n ? "-" : "";
  const magnitude = quantity.nanos < 0n ? -quantity.nanos : quantity.nanos;
  // A binary amount below 1024, or with a fraction, is written as a decimal one (upstream Quantity.CanonicalizeBytes).
  if (quantity.format === "binary" && magnitude >= 1024n * nano && magnitude % nano === 0n) {
    return sign + formatBinary(magnitude / nano);
  }
  return sign + formatDecimal(magnitude, quantity.format === "exponent");
}

interface Scale {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly format: Format;
}

function readSuffix(suffix: string): Scale | undefined {
  const power = binarySuffixes.indexOf(suffix);
  if (power > 0) return { numerator: 1024n ** BigInt(power), denominator: 1n, format: "binary" };
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return tenTo(decimal, "decimal");
  const exponent = /^[eE]([+-]?\d{1,3})$/.exec(suffix);
  return exponent?.[1] === undefined ? undefined : tenTo(Number(exponent[1]), "exponent");
}

function tenTo(power: number, format: Format): Scale {
  return power >= 0
    ? { numerator: 10n ** BigInt(power), denominator: 1n, format }
    : { numerator: 1n, denominator: 10n ** BigInt(-power), format };
}

function formatBinary(units: bigint): string {
  let rest = units;
  let power = 0;
  while (rest % 1024n === 0n && power < binarySuffixes.length - 1) {
    rest /= 1024n;
    power += 1;
  }
  return `${rest}${binarySuffixes[power] ?? ""}`;
}

function formatDecimal(nanos: bigint, asExponent: boolean): string {
  let rest = nanos;
  let power = -9;
  while (rest % 1000n === 0n && power < 18) {
    rest /= 1000n;
    power += 3;
  }
  if (asExponent) return power === 0 ? `${rest}` : `${rest}e${power}`;
  const suffix = [...decimalSuffixes].find(([, value]) => value === power)?.[0] ?? "";
  return `${rest}${suffix}`;
}
