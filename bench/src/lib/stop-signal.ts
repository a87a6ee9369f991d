/** Ends with the first SIGINT or SIGTERM; the second has its ordinary effect. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stop.abort(new Error(`interrupted by ${signal}`)));
  }
  return stop.signal;
}
