// Preloaded into a program (node --import, with an IPC channel): counts the calls of its functions, and reports at each message how
// often each was called since the message before.
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

process.on("message", () => void report());
// The channel must not keep the program alive.
process.channel?.unref();

async function report(): Promise<void> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const calls = result.flatMap(({ url, functions }) =>
    functions.flatMap(({ functionName, ranges: [range] }) =>
      range === undefined || range.count === 0 ? [] : [[url, `${functionName}@${range.startOffset}`, range.count]],
    ),
  );
  process.send?.(calls);
}
