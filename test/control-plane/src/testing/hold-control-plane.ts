import { startControlPlane } from "../start.ts";

// Program for lifetime.integration.test.ts: starts everything there is, says where, and waits to be killed.
const controlPlane = await startControlPlane({ scheduler: true, controllerManager: true });
await controlPlane.startHollowNode("node-a");
console.log(JSON.stringify({ logDir: controlPlane.logDir }));
if (process.argv[2] === "wait") await controlPlane.kubectl(["get", "nodes", "--watch"], { timeoutMs: 600_000 });
