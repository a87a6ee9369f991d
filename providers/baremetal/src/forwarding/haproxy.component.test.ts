import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "../config/config.ts";
import type { AskSocket } from "../edge/ask-socket.ts";
import { haproxyFiles, renderHaproxy } from "../plan/haproxy-config.ts";
import { record } from "../test/records.ts";
import { haproxy } from "./haproxy.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "haproxy-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const reset = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

test("a reload that is not heard, for HAProxy was at an earlier one, is asked for again", async () => {
  const parsed = parseConfig(
    `site: s\nstateDir: ${directory}\ninventory: { path: /m }\nhaproxy: { runDir: ${directory} }\npools: [{ name: lan, ranges: [192.0.2.0/24] }]`,
  );
  if (parsed.kind !== "value") throw new Error(parsed.problems.join("\n"));
  const config = parsed.value.haproxy;
  const plan = renderHaproxy(config, [record({ forwarder: "haproxy" })]);
  let structure = "previous";
  let reloads = 0;
  const ask: AskSocket = async (path, line) => {
    if (path !== haproxyFiles(directory).master)
      return line === "show info" ? `description: cloudwire-${structure}\n` : "";
    reloads += 1;
    if (reloads > 1) structure = plan.structure;
    throw reset();
  };
  const run = async () => ({ code: 0, stdout: "", stderr: "" });
  expect(await haproxy(config, { run, ask }).apply(plan)).toBe("reload");
  expect(reloads).toBe(2);
});
