import { get } from "node:http";
import { dial } from "./dial.ts";

/** How a load balancer asks a target whether it wants traffic. */
export interface HealthCheck {
  readonly protocol: "tcp" | "http";
  readonly port: number;
  /** Of "http": answers 200 while the target wants traffic. */
  readonly path: string;
}

export interface HealthOptions {
  readonly now: () => number;
  /** How long an answer is believed. */
  readonly freshMs: number;
  /** How long a target may take to answer; then it is not healthy. */
  readonly timeoutMs: number;
}

/** Answers kept; they are worth a second each, so that losing them all costs little. */
const maxKnown = 10_000;

interface Known {
  readonly untilMs: number;
  readonly healthy: Promise<boolean>;
}

/**
 * Health of targets, asked only when a connection needs to know: two hundred load balancers with thousands of targets cost
 * nothing until a client uses them.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Whether the target wants traffic. Those who ask at the same time share one check. */
  async isHealthy(host: string, check: HealthCheck): Promise<boolean> {
    const nowMs = this.#options.now();
    const key = `${check.protocol} ${host}:${check.port}${check.path}`;
    const known = this.#known.get(key);
    if (known && known.untilMs > nowMs) return known.healthy;
    if (this.#known.size >= maxKnown) this.#known.clear();
    const healthy = ask(host, check, this.#options.timeoutMs);
    this.#known.set(key, { untilMs: nowMs + this.#options.freshMs, healthy });
    return healthy;
  }
}

async function ask(host: string, check: HealthCheck, timeoutMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  if (check.protocol === "http") return isOk(host, check, signal);
  const socket = await dial({ host, port: check.port }, timeoutMs, signal);
  socket?.destroy();
  return socket !== undefined;
}

async function isOk(host: string, { port, path }: HealthCheck, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host, port, path, signal, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => {
      resolve(false);
    });
  });
}
