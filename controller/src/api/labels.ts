/** As for `kubectl -l`: all requirements must match. */
export interface LabelSelector {
  readonly text: string;
  readonly requirements: readonly Requirement[];
}

export type Requirement =
  | { readonly kind: "in" | "notIn"; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: "exists" | "notExists"; readonly key: string }
  | { readonly kind: "greater" | "less"; readonly key: string; readonly than: bigint };

export type ParsedSelector =
  | { readonly kind: "selector"; readonly selector: LabelSelector }
  | { readonly kind: "invalid"; readonly problem: string };

/** As apimachinery/pkg/labels/selector.go v0.36.3: a missing label matches != and notin. */
export function matchesSelector(
  { requirements }: LabelSelector,
  labels: Readonly<Record<string, string | undefined>>,
): boolean {
  return requirements.every((requirement) => {
    const { key } = requirement;
    return isMatch(requirement, Object.hasOwn(labels, key) ? labels[key] : undefined);
  });
}

/** Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. The empty selector matches everything. apimachinery/pkg/labels/selector.go v0.36.3. */
export function parseLabelSelector(text: string): ParsedSelector {
  try {
    return { kind: "selector", selector: { text, requirements: new Parser(text).all() } };
  } catch (error) {
    if (error instanceof SelectorError) return { kind: "invalid", problem: error.message };
    throw error;
  }
}

function isMatch(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.kind) {
    case "in":
      return value !== undefined && requirement.values.includes(value);
    case "notIn":
      return value === undefined || !requirement.values.includes(value);
    case "exists":
      return value !== undefined;
    case "notExists":
      return value === undefined;
    case "greater":
      return value !== undefined && isInteger(value) && BigInt(value) > requirement.than;
    case "less":
      return value !== undefined && isInteger(value) && BigInt(value) < requirement.than;
    default:
      return requirement satisfies never;
  }
}

/** Never leaves this file. */
class SelectorError extends Error {
  readonly code = "SELECTOR";

  constructor(message: string) {
    super(message);
    this.name = "SelectorError";
  }
}

/** A symbol or a word. */
const TOKEN = /\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)/gy;
const SYMBOLS: ReadonlySet<string> = new Set(["", "==", "!=", "=", "!", ",", "(", ")", "<", ">"]);

class Parser {
  /** "" is the end. */
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...text.trimEnd().matchAll(TOKEN)].map(([, token = ""]) => token);
  }

  all(): readonly Requirement[] {
    const requirements: Requirement[] = [];
    if (this.#next() === "") return requirements;
    for (;;) {
      requirements.push(this.#requirement());
      const end = this.#take();
      if (end === "") return requirements;
      if (end !== ",") throw this.#unexpected(end, "a comma");
    }
  }

  #requirement(): Requirement {
    if (this.#skip("!")) return { kind: "notExists", key: this.#key() };
    const key = this.#key();
    const operator = this.#next();
    if (operator === "" || operator === ",") return { kind: "exists", key };
    this.#at++;
    switch (operator) {
      case "=":
      case "==":
        return { kind: "in", key, values: [this.#value()] };
      case "!=":
        return { kind: "notIn", key, values: [this.#value()] };
      case "in":
        return { kind: "in", key, values: this.#values() };
      case "notin":
        return { kind: "notIn", key, values: this.#values() };
      case ">":
        return { kind: "greater", key, than: this.#integer() };
      case "<":
        return { kind: "less", key, than: this.#integer() };
      default:
        throw this.#unexpected(operator, `=, ==, !=, in, notin, < or > after ${key}`);
    }
  }

  #key(): string {
    const key = this.#take();
    if (SYMBOLS.has(key)) throw this.#unexpected(key, "the key of a label");
    if (!isLabelKey(key)) throw new SelectorError(`"${key}" cannot be the key of a label`);
    return key;
  }

  /** May be empty. */
  #value(): string {
    const value = SYMBOLS.has(this.#next()) ? "" : this.#take();
    if (!isLabelValue(value)) throw new SelectorError(`"${value}" cannot be the value of a label`);
    return value;
  }

  #values(): readonly string[] {
    if (!this.#skip("(")) throw this.#unexpected(this.#next(), "values in parentheses");
    const values = [this.#value()];
    while (this.#skip(",")) values.push(this.#value());
    if (!this.#skip(")")) throw this.#unexpected(this.#next(), "a comma or the closing parenthesis");
    return values;
  }

  #integer(): bigint {
    const value = this.#value();
    if (!isInteger(value)) throw new SelectorError(`"${value}" is not an integer, which < and > require`);
    return BigInt(value);
  }

  #next(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #take(): string {
    const token = this.#next();
    this.#at++;
    return token;
  }

  #skip(token: string): boolean {
    if (this.#next() !== token) return false;
    this.#at++;
    return true;
  }

  #unexpected(token: string, wanted: string): SelectorError {
    return new SelectorError(`found ${token === "" ? "the end" : `"${token}"`} instead of ${wanted}`);
  }
}

/** As Go's ParseInt with 64 bits; a label value cannot start with a sign. */
function isInteger(text: string): boolean {
  return /^[0-9]{1,19}$/.test(text) && BigInt(text) <= MAX_INT64;
}

const MAX_INT64 = 9_223_372_036_854_775_807n;

/** apimachinery/pkg/util/validation/validation.go v0.36.3: at most 63 bytes, letters and digits at both ends. */
const LABEL_NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** `name` or `dns.domain/name`. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return LABEL_NAME.test(key);
  return DNS_SUBDOMAIN.test(key.slice(0, slash)) && LABEL_NAME.test(key.slice(slash + 1));
}

/** May be empty. */
export function isLabelValue(value: string): boolean {
  return value === "" || LABEL_NAME.test(value);
}
