// Preloaded into each process of the demo: ends it when the demo's own process ends, even after kill -9.
import process from "node:process";

process.channel?.unref();
process.on("disconnect", () => {
  process.kill(process.pid, "SIGTERM");
});
