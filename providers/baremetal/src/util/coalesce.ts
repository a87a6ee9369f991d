/**
 * Runs `work` so that everybody who asks gets a run that began after the question, one run at a time, and all who ask while one is under way
 * share the next. Rejections go to those who asked for that run.
 */
export function coalesced<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<unknown> | undefined;
  let next: Promise<Result> | undefined;
  const begin = (): Promise<Result> => {
    next = undefined;
    const run = work();
    current = run.then(
      () => undefined,
      () => undefined,
    );
    return run;
  };
  return () => {
    next ??= (current ?? Promise.resolve()).then(begin);
    return next;
  };
}
