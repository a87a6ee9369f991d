import { readFile } from "node:fs/promises";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { type CloudAddress, toAddress } from "./support/address.ts";
import { RealOpenStack } from "./support/real-openstack.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the suite's cloud is. */
    readonly openstack: CloudAddress;
  }
}

let cloud: RealOpenStack | undefined;

/**
 * Starts OpenStack for all files of the suite; each makes a project of its own in it. While one works on a test, a cloud may be left
 * running: CLOUDWIRE_TEST_OPENSTACK then names the file with what it said when it was ready.
 */
export async function setup(project: TestProject): Promise<void> {
  const running = process.env["CLOUDWIRE_TEST_OPENSTACK"];
  if (running === undefined) cloud = await RealOpenStack.start();
  const address = cloud?.address ?? toAddress(JSON.parse(await readFile(running ?? "", "utf8")), "");
  project.provide("openstack", address);
}

export async function teardown(): Promise<void> {
  await cloud?.[Symbol.asyncDispose]();
}
