import { createHistogram } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const PERIOD_MS = 250;
const NS_PER_MS = 1e6;
const NS_PER_SECOND = 1e9;

/** Gauges of what is told, by what it is. */
const FAMILIES = {
  mean: "How late the event loop was on average since the last scrape.",
  max: "How late the event loop was at most since the last scrape.",
  p50: "How late the event loop was half of the times since the last scrape, or less.",
  p99: "How late the event loop was 99 % of the times since the last scrape, or less.",
} as const;

/** Seconds. */
type Delays = Readonly<Record<keyof typeof FAMILIES, number>>;

/** How late a timer ran that is due again and again: so long has to wait what comes at any moment. */
export class EventLoopDelay {
  readonly #periodMs: number;
  /** Nanoseconds, from 1. */
  readonly #histogram = createHistogram();
  #dueMs: number;

  constructor(periodMs: number, nowMs: number) {
    this.#periodMs = periodMs;
    this.#dueMs = nowMs + periodMs;
  }

  /** The timer runs; it is due next a period from now. */
  ran(nowMs: number): void {
    this.#histogram.record(Math.max(1, Math.round((nowMs - this.#dueMs) * NS_PER_MS)));
    this.#dueMs = nowMs + this.#periodMs;
  }

  /** Since it was asked for last. */
  take(): Delays {
    const histogram = this.#histogram;
    const [p50, p99] = [histogram.percentile(50), histogram.percentile(99)];
    const { count, mean, max } = histogram;
    histogram.reset();
    const seconds = (ns: number): number => (count === 0 ? 0 : ns / NS_PER_SECOND);
    return { mean: seconds(mean), max: seconds(max), p50: seconds(p50), p99: seconds(p99) };
  }
}

/** Four times a second; prom-client's way, a hundred times, is most of what a process costs that has nothing to do. */
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
  // Collected in the order of making: the first one sets them all.
  const mean = gauge("mean", () => {
    const delays = delay.take();
    mean.set(delays.mean);
    max.set(delays.max);
    p50.set(delays.p50);
    p99.set(delays.p99);
  });
  const [max, p50, p99] = [gauge("max"), gauge("p50"), gauge("p99")];
}
