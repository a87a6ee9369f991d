import { ProviderError } from "@cloudwire/provider-sdk";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";

/** What a service answered, held to the form that is relied on. @throws ProviderError when it is of another form */
export function answerOf<Schema extends TSchema>(schema: Schema, answer: unknown, request: string): Static<Schema> {
  if (Value.Check(schema, answer)) return answer;
  const [first] = Value.Errors(schema, answer);
  const problem = first ? `${first.instancePath || "the response"} ${first.message}` : "it has another form";
  throw new ProviderError("INCOMPLETE_ANSWER", `${request} returned an invalid response: ${problem}`);
}
