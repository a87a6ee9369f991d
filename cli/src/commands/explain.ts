import { OBJECT_KINDS, PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { objectNames, objectOf } from "./operands.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, WATCH_OPTIONS } from "../options/shared-options.ts";
import { showOrWatch } from "./show.ts";
import { renderExplanation } from "../render/explanation.ts";
import type { Style } from "../render/style.ts";
import { notFoundText, readExplanation } from "../client/shapes/explanation.ts";
import type { Call, Command } from "./command.ts";

export const explain: Command = {
  name: "explain",
  summary: "Explain the state of an object, its problems and how to fix them",
  operands: "node/NAME | service/NAMESPACE/NAME | route/NODE | provider/NAME",
  about: [
    "Explain one object: its state and desired state, the causes of problems and how to fix them, the next retry, recent provider calls and the timeline. A route is named after its Node.",
    "Kind and name can also be separate arguments: explain node NAME.",
    "For a deleted object, the command shows its history. If the object has no history, the command fails; with --watch, it waits for the object.",
  ],
  options: { ...OUTPUT_OPTIONS, ...WATCH_OPTIONS, ...CONNECTION_OPTIONS },
  examples: [
    ["explain node/worker-1", "why a Node is not initialized or not deleted"],
    ["explain service/shop/web --watch", "follow the creation of a load balancer"],
    ["explain provider/aws -o json", "JSON output"],
  ],
  exitCodes: {
    [EXIT.ok]: "the object is explained, whatever its state",
    [EXIT.failed]:
      "the request failed, or the object does not exist and has no history; JSON and YAML are written anyway",
  },
  complete: completeObject,
  run: async (call) => {
    const object = objectOf(call.operands);
    await showOrWatch(call, async () => {
      const content = await readPage(await call.controller(), PATHS.explain, { object });
      const problem = notFoundText(content);
      const text = (style: Style): string => renderExplanation(readExplanation(content), style);
      return { content, text, ...(problem === undefined ? {} : { problem }) };
    });
    return EXIT.ok;
  },
};

/** Kinds first, then names from the controller. */
async function completeObject(call: Call, before: readonly string[], current: string): Promise<readonly string[]> {
  const [kindBefore] = before;
  const slash = current.indexOf("/");
  const kindText = kindBefore ?? (slash < 0 ? undefined : current.slice(0, slash));
  if (kindText === undefined) return OBJECT_KINDS.map((kind) => `${kind}/`);
  const kind = OBJECT_KINDS.find((known) => known === kindText);
  if (kind === undefined || before.length > 1) return [];
  const objects = await objectNames(call, kind, kindBefore === undefined ? current.slice(slash + 1) : current);
  return kindBefore === undefined ? objects : objects.map((object) => object.slice(object.indexOf("/") + 1));
}
