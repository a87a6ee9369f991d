// Runs a command with the fake cloud beside it, and the environment that leads the provider there:
//   node test/with-fake-cloud.ts node src/main.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machine, startAcmeCloud, token } from "./fake-cloud.ts";

const [command = "", ...args] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "fake-cloud-"));
const tokenFile = join(directory, "token");
writeFileSync(tokenFile, token);
await using cloud = await startAcmeCloud();
cloud.machines.put("i-1", machine("i-1"));
cloud.machines.put("i-2", machine("i-2", { privateIps: ["10.0.0.2"] }));
const child = spawn(command, args, {
  stdio: "inherit",
  env: { ...process.env, CLOUD_API_URL: cloud.url, CLOUD_API_TOKEN_FILE: tokenFile },
});
// Ctrl-C goes to both; the command decides when it has ended.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
const [code] = await once(child, "exit");
rmSync(directory, { recursive: true });
process.exitCode = code ?? 1;
