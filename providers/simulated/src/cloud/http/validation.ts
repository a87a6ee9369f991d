import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { CloudError } from "../errors.ts";

type Validated = { readonly value: unknown } | { readonly error: Error };

/** Maximum number of problems in an error message. */
const maxShown = 5;

/** Bodies are taken as they are; what comes out of a URL is text and is converted first. */
export const compileValidator = (schema: TSchema, part: string | undefined): ((value: unknown) => Validated) => {
  const validator = Compile(schema);
  return (value) => {
    const converted = part === "body" ? value : Value.Convert(schema, value);
    if (validator.Check(converted)) return { value: converted };
    const found = validator.Errors(converted).filter((error) => error.keyword !== "boolean");
    const shown = found.slice(0, maxShown).map((error) => describe(part ?? "request", error));
    const more = found.length > maxShown ? `; and ${found.length - maxShown} more` : "";
    return { error: new CloudError("InvalidRequest", `${shown.join("; ")}${more}`) };
  };
};

interface Mistake {
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

const describe = (part: string, { instancePath, message, params }: Mistake): string => {
  const place = `${part}${instancePath.replaceAll("/", ".")}`;
  if ("allowedValues" in params) return `${place} must be one of ${JSON.stringify(params.allowedValues)}`;
  if ("additionalProperties" in params)
    return `${place} has unknown properties ${JSON.stringify(params.additionalProperties)}`;
  return `${place} ${message}`;
};
