import { badRequest } from "../api-error.ts";
import type { StringMap } from "../object.ts";
import { isLabelValue, qualifiedName } from "../validation/names.ts";

type Requirement =
  | { readonly kind: "exists" | "missing"; readonly key: string }
  | { readonly kind: "in" | "notin"; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: "above" | "below"; readonly key: string; readonly bound: number };

/** Whether labels satisfy a selector. */
export type LabelPredicate = (labels: StringMap) => boolean;

/** Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`; throws ApiError 400 on anything else. Undefined selects everything. */
export function parseLabelSelector(text: string): LabelPredicate | undefined {
  const parser = new Parser(tokenize(text));
  const requirements = parser.requirements();
  if (requirements.length === 0) return undefined;
  return (labels) => requirements.every((requirement) => matches(requirement, labels));
}

function matches(requirement: Requirement, labels: StringMap): boolean {
  const value = labels[requirement.key];
  switch (requirement.kind) {
    case "exists":
      return value !== undefined;
    case "missing":
      return value === undefined;
    case "in":
      return value !== undefined && requirement.values.includes(value);
    case "notin":
      return value === undefined || !requirement.values.includes(value);
    case "above":
      return value !== undefined && /^[+-]?\d+$/.test(value) && Number(value) > requirement.bound;
    case "below":
      return value !== undefined && /^[+-]?\d+$/.test(value) && Number(value) < requirement.bound;
    default:
      return requirement satisfies never;
  }
}

/** Words, operators and punctuation; blanks only separate. */
function tokenize(text: string): readonly string[] {
  return text.match(/==|!=|[!=,()<>]|[^\s!=,()<>]+/g) ?? [];
}

const operators = ["=", "==", "!=", "in", "notin", ">", "<"];
/** As the real server lists what it would have understood. */
const expectedOperators = "in, notin, =, ==, !=, gt, lt";

class Parser {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  requirements(): readonly Requirement[] {
    const requirements: Requirement[] = [];
    if (this.#tokens.length === 0) return requirements;
    if (!isWord(this.#peek()) && this.#peek() !== "!") {
      throw badRequest(`found '${this.#peek()}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next === "") return requirements;
      if (next !== ",") throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (!isWord(following) && following !== "!") {
        throw badRequest(`found '${following}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): Requirement {
    const negated = this.#peek() === "!";
    if (negated) this.#next();
    const key = this.#key();
    if (negated) return { kind: "missing", key };
    const next = this.#peek();
    if (next === "" || next === ",") return { kind: "exists", key };
    if (!operators.includes(next)) throw cannotParse(`found '${next}', expected: ${expectedOperators}`);
    this.#next();
    return this.#operation(key, next);
  }

  #operation(key: string, operator: string): Requirement {
    if (operator === "in" || operator === "notin") return { kind: operator, key, values: this.#values(key) };
    const value = isWord(this.#peek()) ? this.#next() : "";
    if (operator === ">" || operator === "<") {
      if (!/^[+-]?\d+$/.test(value)) throw badValue(0, value, "for 'Gt', 'Lt' operators, the value must be an integer");
      return { kind: operator === ">" ? "above" : "below", key, bound: Number(value) };
    }
    checkValue(key, value);
    return { kind: operator === "!=" ? "notin" : "in", key, values: [value] };
  }

  #values(key: string): readonly string[] {
    const open = this.#next();
    if (open !== "(") throw cannotParse(`found '${open}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      // An empty place between commas is the empty value.
      const value = isWord(this.#peek()) ? this.#next() : "";
      checkValue(key, value);
      values.push(value);
      const next = this.#next();
      if (next === ")") return values;
      if (next !== ",") throw cannotParse(`found '${next}', expected: ',' or ')'`);
    }
  }

  #key(): string {
    const key = this.#next();
    if (!isWord(key)) throw cannotParse(`found '${key}', expected: identifier`);
    const complaints = qualifiedName(key);
    if (complaints.length > 0)
      throw cannotParse(`<nil>: Invalid value: ${JSON.stringify(key)}: ${complaints.join("; ")}`);
    return key;
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? "";
  }

  #next(): string {
    const token = this.#peek();
    this.#position += 1;
    return token;
  }
}

function isWord(token: string): boolean {
  return token !== "" && !/^[!=,()<>]/.test(token);
}

function checkValue(key: string, value: string): void {
  const complaints = isLabelValue(value);
  if (complaints.length > 0) {
    throw cannotParse(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${complaints.join("; ")}`);
  }
}

function badValue(index: number, value: string, detail: string): Error {
  return cannotParse(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${detail}`);
}

function cannotParse(detail: string): Error {
  return badRequest(`unable to parse requirement: ${detail}`);
}
