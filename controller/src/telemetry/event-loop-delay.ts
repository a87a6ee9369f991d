import { createHistogram } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const PERIOD_MS = 250;
const NS_PER_MS = 1e6;
const NS_PER_SECOND = 1e9;

const FAMILIES = {
  mean: "Mean event loop lag since the last scrape, in seconds.",
  max: "Maximum event loop lag since the last scrape, in seconds.",
  p50: "50th percentile of the event loop lag since the last scrape, in seconds.",
  p99: "99th percentile of the event loop lag since the last scrape, in seconds.",
} as const;

/** Seconds. */
type Delays = Readonly<Record<keyof typeof FAMILIES, number>>;

/** How late a periodic timer runs, which is how long other work waits as well. */
export class EventLoopDelay {
  readonly #periodMs: number;
  /** Nanoseconds, from 1. */
  readonly #histogram = createHistogram();
  #dueMs: number;

  constructor(periodMs: number, nowMs: number) {
    this.#periodMs = periodMs;
    this.#dueMs = nowMs + periodMs;
  }

  /** The timer ran; it is due again in one period. */
  ran(nowMs: number): void {
    this.#histogram.record(Math.max(1, Math.round((nowMs - this.#dueMs) * NS_PER_MS)));
    this.#dueMs = nowMs + this.#periodMs;
  }

  /** Since the last call. */
  take(): Delays {
    const histogram = this.#histogram;
    const [p50, p99] = [histogram.percentile(50), histogram.percentile(99)];
    const { count, mean, max } = histogram;
    histogram.reset();
    const seconds = (ns: number): number => (count === 0 ? 0 : ns / NS_PER_SECOND);
    return { mean: seconds(mean), max: seconds(max), p50: seconds(p50), p99: seconds(p99) };
  }
}

/** Four times a second: prom-client's hundred times would take most of the CPU of an idle process. */
export function observeEventLoop(register: Registry): void {
  const delay = new EventLoopDelay(PERIOD_MS, performance.now());
  setInterval(() => delay.ran(performance.now()), PERIOD_MS).unref();
  const gauge = (name: keyof Delays, collect?: () => void): Gauge =>
    new Gauge({
      name: `nodejs_eventloop_lag_${name}_seconds`,
      help: FAMILIES[name],
      registers: [register],
      ...(collect && { collect }),
    });
  // Collected in the order of creation: the first one sets them all.
  const mean = gauge("mean", () => {
    const delays = delay.take();
    mean.set(delays.mean);
    max.set(delays.max);
    p50.set(delays.p50);
    p99.set(delays.p99);
  });
  const [max, p50, p99] = [gauge("max"), gauge("p50"), gauge("p99")];
}
