import type { Clock } from "./clock.ts";

/** Calls back again and again, first after one interval; the answer ends that. */
export const every = (clock: Clock, intervalMs: number, callback: () => void): (() => void) => {
  let cancel: () => void;
  const wait = () => {
    cancel = clock.after(intervalMs, () => {
      wait();
      callback();
    });
  };
  wait();
  return () => cancel();
};
