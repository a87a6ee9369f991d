import { startControlPlane } from "../start.ts";

// Program for lifetime.integration.test.ts: starts a control plane, tells its process ids, and waits to be killed.
const controlPlane = await startControlPlane({ scheduler: true, controllerManager: true });
await controlPlane.startHollowNode("node-a");
const pids = controlPlane.processes().map((process) => process.pid);
console.log(JSON.stringify({ dir: controlPlane.logDir, pids }));
if (process.argv[2] === "wait") setInterval(() => undefined, 60_000);
