import { type FieldProblem, ProviderError } from "../results/errors.ts";

/** Which annotations an {@link AnnotationReader} reads. */
export interface AnnotationNames {
  /** What their keys begin with, such as `acme.example.com/lb-`. A name is what follows. */
  readonly prefix: string;
  /**
   * Names that have a meaning which the provider cannot honour, each with why and what to do instead: to leave them out would make another
   * load balancer than the user asked for. Default: none.
   */
  readonly refused?: Readonly<Record<string, string>> | undefined;
}

/**
 * The values of a Service's annotations, and what is wrong with them: every problem is told, not the first alone. The SDK has held each value
 * to its `AnnotationSchema` before, so that what is left to check are limits, and what does not go together.
 */
export class AnnotationReader<Name extends string = string> {
  readonly #annotations: Readonly<Record<string, string>>;
  readonly #names: AnnotationNames;
  readonly #problems: FieldProblem[] = [];

  /** Takes the `annotations` of a load balancer. */
  constructor(annotations: Readonly<Record<string, string>>, names: AnnotationNames) {
    this.#annotations = annotations;
    this.#names = names;
  }

  /** The value without the blanks around it; undefined when there is none, or an empty one. */
  text(name: Name): string | undefined {
    const text = this.#annotations[this.#names.prefix + name]?.trim();
    return text === "" ? undefined : text;
  }

  /** True for `true`; `otherwise` when there is none. */
  flag(name: Name, otherwise: boolean): boolean {
    const text = this.text(name);
    return text === undefined ? otherwise : text === "true";
  }

  /** What stands between commas, without empty ones. */
  list(name: Name): readonly string[] {
    const items = this.text(name)?.split(",") ?? [];
    return items.map((item) => item.trim()).filter((item) => item !== "");
  }

  /** What stands between commas as `key=value`. */
  map(name: Name): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.list(name).map((item) => {
        const [key = "", ...value] = item.split("=");
        return [key.trim(), value.join("=").trim()];
      }),
    );
  }

  /** A whole number from `least` to `most`; `otherwise` when there is none, or another value, which is a problem. */
  number(name: Name, least: number, most: number, otherwise: number): number {
    const text = this.text(name);
    const value = text === undefined ? otherwise : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    this.blame(name, `must be a whole number, ${least} to ${most}`);
    return otherwise;
  }

  /** Adds a problem, in words that follow the annotation's key. */
  blame(name: Name, problem: string): void {
    const description = `annotation ${this.#names.prefix}${name} ${problem}`;
    this.#problems.push({ field: this.#fieldOf(name), description });
  }

  /** Call it when all is read. @throws ProviderError `FEATURE_UNSUPPORTED` for a refused name, `ANNOTATION_INVALID` with all problems */
  end(): void {
    const { prefix, refused = {} } = this.#names;
    for (const [name, why] of Object.entries(refused)) {
      if (this.#annotations[prefix + name] === undefined) continue;
      const message = `annotation ${prefix}${name} is not honoured: ${why}`;
      throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: this.#fieldOf(name) });
    }
    if (this.#problems.length === 0) return;
    const message = this.#problems.map(({ description }) => description).join("; ");
    throw new ProviderError("ANNOTATION_INVALID", message, { fields: this.#problems });
  }

  #fieldOf(name: string): string {
    return `spec.annotations[${JSON.stringify(this.#names.prefix + name)}]`;
  }
}
