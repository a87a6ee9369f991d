import { PATHS } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { parseObject } from "../objects.ts";
import { serveQuery } from "../../server/endpoints.ts";
import type { Explainer } from "../explainer.ts";
import type { Orphans } from "../evaluate/orphans.ts";

/** Why one object is as it is, and what is at the clouds without an owner. */
export class ExplainEndpoints {
  readonly #explainer: Explainer;
  readonly #orphans: Orphans;

  constructor(explainer: Explainer, orphans: Orphans) {
    this.#explainer = explainer;
    this.#orphans = orphans;
  }

  /** What is in memory. */
  serveExplain(server: FastifyInstance): void {
    serveQuery(server, PATHS.explain, async ({ object }) => {
      const asked = parseObject(object);
      if ("problems" in asked) return { kind: "invalid", problems: asked.problems };
      return { kind: "json", text: shown(this.#explainer.explain(asked)) };
    });
  }

  /** Costs calls of the clouds. */
  serveOrphans(server: FastifyInstance): void {
    serveQuery(server, PATHS.orphans, async () => ({ kind: "json", text: shown(await this.#orphans.find()) }));
  }
}

function shown(content: object): string {
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
