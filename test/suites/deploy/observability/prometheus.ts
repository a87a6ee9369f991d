import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import { freePort } from "../../../support/secure-page.ts";

const READY_MS = 60_000;
const QUERY_MS = 30_000;

export interface PrometheusOptions {
  /** For its configuration, and for what it stores unless `data` says otherwise. */
  readonly directory: string;
  /** A directory with blocks. */
  readonly data?: string;
  /** JSON, which is YAML. */
  readonly config: object;
}

/** In seconds since 1970. */
export interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** A real Prometheus of one test's own. */
export class Prometheus implements AsyncDisposable {
  readonly #program: Program;
  readonly #url: string;

  static async start({ directory, data = join(directory, "data"), config }: PrometheusOptions): Promise<Prometheus> {
    const file = join(directory, "prometheus.json");
    await writeFile(file, JSON.stringify(config));
    const address = `127.0.0.1:${await freePort()}`;
    const program = new Program({
      command: "prometheus",
      args: [`--config.file=${file}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${address}`],
    });
    await program.said(/Server is ready to receive web requests/, READY_MS);
    return new Prometheus(program, `http://${address}`);
  }

  private constructor(program: Program, url: string) {
    this.#program = program;
    this.#url = url;
  }

  /** How many numbers an expression has within the range, over all its series. */
  async count(query: string, { start, end, step }: Range): Promise<number> {
    const body = new URLSearchParams({ query, start: `${start}`, end: `${end}`, step: `${step}` });
    const series = listOf(at(await this.#ask("query_range", body), "data", "result"));
    const pairs = series.flatMap((one): readonly unknown[] => {
      const values = at(one, "values");
      return Array.isArray(values) ? values : [];
    });
    return pairs.filter((pair) => Number.isFinite(Number(at(pair, 1)))).length;
  }

  /** Names of the alerts that are in this state, in order. */
  async alerts(...states: readonly ("pending" | "firing")[]): Promise<readonly string[]> {
    const alerts = listOf(at(await this.#ask("alerts"), "data", "alerts"));
    const names = alerts
      .filter((alert) => states.some((state) => at(alert, "state") === state))
      .map((alert) => String(at(alert, "labels", "alertname")));
    return [...new Set(names)].toSorted();
  }

  /** Waits until it has read every target once. */
  async scraped(count: number): Promise<void> {
    await eventually(`${count} targets to be up`, READY_MS, async () => {
      const targets = listOf(at(await this.#ask("targets"), "data", "activeTargets"));
      return targets.filter((target) => at(target, "health") === "up").length === count ? true : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }

  async #ask(path: string, body?: URLSearchParams): Promise<unknown> {
    const signal = AbortSignal.timeout(QUERY_MS);
    const answer = await fetch(
      `${this.#url}/api/v1/${path}`,
      body === undefined ? { signal } : { signal, method: "POST", body },
    );
    const content: unknown = await answer.json();
    if (!answer.ok) throw new Error(`${body?.get("query") ?? path}: ${String(at(content, "error"))}`);
    return content;
  }
}
