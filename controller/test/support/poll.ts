/** Waits until `condition` holds; fails with `what` after `timeoutMs`. For real processes and sockets only: elsewhere use FakeClock. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`after ${timeoutMs} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
