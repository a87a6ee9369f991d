// Preloaded into each process of the demo: ends it when the demo's own process is gone, however it went, kill -9 included.
import process from "node:process";

process.channel?.unref();
process.on("disconnect", () => {
  process.kill(process.pid, "SIGTERM");
});
