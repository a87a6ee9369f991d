import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "@cloudwire/test";
import { expect, test } from "vitest";
import { processTree, readProcessMeasurements, readProcessUsage, readTreeUsage } from "./process.ts";

const MIB = 1024 * 1024;

test("readProcessMeasurements() sees this process's memory, descriptors and threads", async () => {
  const measurements = await readProcessMeasurements(process.pid);
  expect(measurements?.rssBytes).toBeGreaterThan(20 * MIB);
  expect(measurements?.privateBytes).toBeGreaterThan(5 * MIB);
  expect(measurements?.pssBytes).toBeGreaterThanOrEqual(measurements?.privateBytes ?? 0);
  expect(measurements?.descriptors).toBeGreaterThan(3);
  expect(measurements?.threads).toBeGreaterThan(3);
});

test("readProcessMeasurements() has nothing of a process that is not there", async () => {
  // Above the most that Linux ever hands out.
  expect(await readProcessMeasurements(4_194_305)).toBeUndefined();
});

test("readProcessUsage() sees the time that a process has worked, and the most memory that it had", async () => {
  // One that has had no children, whose time counts as well.
  const source =
    "let x=0;while(process.cpuUsage().user<300000)x+=1;console.log(JSON.stringify(process.cpuUsage()));process.stdin.resume()";
  const worker = spawn(process.execPath, ["-e", source], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const [line] = await once(worker.stdout, "data");
    const usage = await readProcessUsage(worker.pid ?? 0);
    const { user, system } = JSON.parse(String(line));
    const seconds = (user + system) / 1_000_000;
    expect(usage.cpuSeconds).toBeGreaterThan(seconds * 0.5);
    expect(usage.cpuSeconds).toBeLessThan(seconds * 2 + 1);
    expect(usage.peakRssBytes).toBeGreaterThanOrEqual(usage.rssBytes);
  } finally {
    worker.stdin.end();
    await once(worker, "close");
  }
});

test("processTree() and readTreeUsage() see what a launcher has started", async () => {
  // It starts one that waits for the end of its input, and does so itself.
  const source =
    "const{spawn}=require('child_process');spawn(process.execPath,['-e','process.stdin.resume()'],{stdio:'inherit'}).once('spawn',()=>console.log('there'))";
  const launcher = spawn(process.execPath, ["-e", source], { stdio: ["pipe", "pipe", "inherit"] });
  const pid = launcher.pid ?? 0;
  try {
    await once(launcher.stdout, "data");
    const tree = await processTree(pid);
    expect(tree).toHaveLength(2);
    const both = await eventually("the second process to have memory", 20_000, async () => {
      const [all, alone] = await Promise.all([readTreeUsage(pid), readProcessUsage(pid)]);
      return all.rssBytes > alone.rssBytes + 20 * MIB ? all : undefined;
    });
    expect(both.pssBytes).toBeLessThan(both.rssBytes);
  } finally {
    launcher.stdin.end();
    await once(launcher, "close");
  }
});
