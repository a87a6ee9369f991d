import { type FieldViolation, ProviderError } from "../results/errors.ts";

/** Which annotations an {@link AnnotationReader} reads. */
export interface AnnotationNames {
  /** What their keys begin with, such as `acme.example.com/lb-`. A name is what follows. */
  readonly prefix: string;
  /**
   * Names that the provider does not support, each with the reason and an alternative. The reader rejects them, because ignoring them would
   * create a load balancer that the user did not request. Default: none.
   */
  readonly refused?: Readonly<Record<string, string>> | undefined;
}

/**
 * Reads the values of a Service's annotations and collects all violations. The SDK has already validated each value against its
 * `AnnotationSchema`; check limits and combinations here.
 */
export class AnnotationReader<Name extends string = string> {
  readonly #annotations: Readonly<Record<string, string>>;
  readonly #names: AnnotationNames;
  readonly #violations: FieldViolation[] = [];

  /** Takes the `annotations` of a load balancer. */
  constructor(annotations: Readonly<Record<string, string>>, names: AnnotationNames) {
    this.#annotations = annotations;
    this.#names = names;
  }

  /** Returns the trimmed value; undefined if it is missing or empty. */
  string(name: Name): string | undefined {
    const text = this.#annotations[this.#names.prefix + name]?.trim();
    return text === "" ? undefined : text;
  }

  /** Returns true for `true`, false for any other value, and `defaultValue` if it is missing. */
  flag(name: Name, defaultValue: boolean): boolean {
    const text = this.string(name);
    return text === undefined ? defaultValue : text === "true";
  }

  /** Returns the comma-separated items without empty ones. */
  list(name: Name): readonly string[] {
    const items = this.string(name)?.split(",") ?? [];
    return items.map((item) => item.trim()).filter((item) => item !== "");
  }

  /** Returns comma-separated `key=value` pairs. */
  map(name: Name): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.list(name).map((item) => {
        const [key = "", ...value] = item.split("=");
        return [key.trim(), value.join("=").trim()];
      }),
    );
  }

  /** Returns an integer from `min` to `max`. Returns `defaultValue` if it is missing, or if it is invalid, which adds a violation. */
  number(name: Name, min: number, max: number, defaultValue: number): number {
    const text = this.string(name);
    const value = text === undefined ? defaultValue : Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    this.addViolation(name, `must be a whole number, ${min} to ${max}`);
    return defaultValue;
  }

  /** Adds a violation. The message is the annotation's key followed by `description`. */
  addViolation(name: Name, description: string): void {
    const text = `annotation ${this.#names.prefix}${name} ${description}`;
    this.#violations.push({ field: this.#fieldOf(name), description: text });
  }

  /** Call it after all reads. @throws ProviderError `FEATURE_UNSUPPORTED` for an unsupported name, `ANNOTATION_INVALID` with all violations */
  throwIfInvalid(): void {
    const { prefix, refused = {} } = this.#names;
    for (const [name, why] of Object.entries(refused)) {
      if (this.#annotations[prefix + name] === undefined) continue;
      const message = `annotation ${prefix}${name} is not supported: ${why}`;
      throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: this.#fieldOf(name) });
    }
    if (this.#violations.length === 0) return;
    const message = this.#violations.map(({ description }) => description).join("; ");
    throw new ProviderError("ANNOTATION_INVALID", message, { fieldViolations: this.#violations });
  }

  #fieldOf(name: string): string {
    return `spec.annotations[${JSON.stringify(this.#names.prefix + name)}]`;
  }
}
