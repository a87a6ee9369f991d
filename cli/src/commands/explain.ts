import { OBJECT_KINDS, PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { objectNames, objectOf } from "./operands.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, WATCH_OPTIONS } from "../options/shared-options.ts";
import { showOrWatch } from "./show.ts";
import { renderExplanation } from "../render/explanation.ts";
import type { Style } from "../render/style.ts";
import { nowhereText, readExplanation } from "../client/shapes/explanation.ts";
import type { Call, Command } from "./command.ts";

export const explain: Command = {
  name: "explain",
  summary: "says how one object stands, what is in its way, and what to do about it",
  operands: "node/NAME | service/NAMESPACE/NAME | route/NODE | provider/NAME",
  about: [
    "Says how one object stands: what is wished of it, what stands in the way and what to do about it, when it is tried next, what was asked of its provider last, and what happened to it. A route is that of the Node of that name.",
    "The words may also stand apart: explain node NAME.",
    "An object that is gone is explained as long as something is known of it. One that is neither in the cluster nor remembered is an error; with --watch it is waited for.",
  ],
  options: { ...OUTPUT_OPTIONS, ...WATCH_OPTIONS, ...CONNECTION_OPTIONS },
  examples: [
    ["explain node/worker-1", "why a Node is not initialized, or stays although its machine is gone"],
    ["explain service/shop/web --watch", "how the load balancer of a Service comes about"],
    ["explain provider/aws -o json", "the same for a program"],
  ],
  exitCodes: {
    [EXIT.ok]: "explained, however it stands",
    [EXIT.failed]:
      "it could not be asked, or there is no such object and nothing is known of one; JSON and YAML are written all the same",
  },
  complete: completeObject,
  run: async (call) => {
    const object = objectOf(call.operands);
    await showOrWatch(call, async () => {
      const content = await readPage(await call.controller(), PATHS.explain, { object });
      const problem = nowhereText(content);
      const text = (style: Style): string => renderExplanation(readExplanation(content), style);
      return { content, text, ...(problem === undefined ? {} : { problem }) };
    });
    return EXIT.ok;
  },
};

/** Kinds at first, then names that the controller knows. */
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
