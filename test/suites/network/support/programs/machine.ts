// One machine of an inventory, as the hooks of the conformance kit request it.
//   node machine.ts <directory of the inventory> create|stop|start|terminate     of the machine $CONFORMANCE_NODE_NAME
import { createHash } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

const [directory = "", action] = process.argv.slice(2);
const name = process.env["CONFORMANCE_NODE_NAME"] ?? "";
const file = join(directory, `${name}.yaml`);

/** No server listens there, and no two machines share it. */
const address = `fd50::${createHash("sha256").update(name).digest("hex").slice(0, 12).match(/.{4}/g)?.join(":")}`;

const write = async (state: "running" | "stopped"): Promise<void> => {
  const half = `${file}.half`;
  await writeFile(half, JSON.stringify({ machines: [{ id: name, internalIPs: [address], state }] }));
  await rename(half, file);
};

switch (action) {
  case "create":
    await write("running");
    console.log(JSON.stringify({ providerId: `baremetal://${name}`, nodeName: name }));
    break;
  case "stop":
    await write("stopped");
    break;
  case "start":
    await write("running");
    break;
  case "terminate":
    await rm(file, { force: true });
    break;
  default:
    throw new Error(`there is no action ${action}`);
}
