import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";

const CALL_MS = 60_000;

/** Has a controller serve its pages where a test can read them without credentials. */
export const LOOPBACK = "--status-page-bind-address=127.0.0.1:0";

/** What a controller answers at a path of its status page's address. */
export async function page(
  controller: Program,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const [, origin = ""] = await controller.said(/statusPage=(http:\/\/[^/\s]+)/);
  const answer = await fetch(`${origin}${path}`, { signal: AbortSignal.timeout(CALL_MS) });
  return { status: answer.status, text: await answer.text() };
}

/** The explanation of an object at this moment. */
export async function explain(controller: Program, object: string): Promise<Json> {
  const { text } = await page(controller, `/debug/explain?object=${object}`);
  const explanation: Json = JSON.parse(text);
  return explanation;
}

/** Reasons of its causes, what matters most first. */
export function reasonsOf(explanation: Json): readonly string[] {
  return listOf(explanation["causes"]).map(({ reason }) => String(reason));
}

/** The explanation of an object once it satisfies the test. */
export async function explained(
  controller: Program,
  object: string,
  what: string,
  isSo: (explanation: Json) => boolean,
): Promise<Json> {
  let last: Json = {};
  return eventually(
    `${object} to be explained: ${what}`,
    60_000,
    async () => {
      last = await explain(controller, object);
      return isSo(last) ? last : undefined;
    },
    () => `${JSON.stringify(last, undefined, 2)}\n${controller.output.slice(-4000)}`,
  );
}

/** The explanation of an object once it gives that reason first. */
export function explainedBy(controller: Program, object: string, reason: string): Promise<Json> {
  return explained(controller, object, reason, (explanation) => reasonsOf(explanation)[0] === reason);
}

/** The first cause. */
export function causeOf(explanation: Json): Json {
  const [first] = listOf(explanation["causes"]);
  if (first === undefined) throw new Error(`no cause: ${String(at(explanation, "summary"))}`);
  return first;
}
