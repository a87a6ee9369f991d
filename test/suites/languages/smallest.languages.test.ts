import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runKit } from "../conformance/run-kit.ts";
import type { Host, Started } from "../conformance/subject.ts";

const exec = promisify(execFile);
const TEST_MS = 480_000;
const inTree = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const MACHINES = ["m-1", "m-2"].map((id, index) => {
  const ip = `10.0.0.${index + 1}`;
  return { id, name: `node-${index + 1}`, size: "small", zone: "zone-1", on: true, ip, ips: [ip] };
});

/** The cloud of the examples, which call their paths for load balancers differently; answers its URL. */
const startAcme = async (host: Host): Promise<string> => {
  const balancers = new Map<string, object>();
  const answerTo = (method: string, { pathname, searchParams }: URL): unknown => {
    const [, kind, key = ""] = pathname.split("/");
    const [id, name] = [searchParams.get("id"), searchParams.get("name")];
    if (kind === "ping") return {};
    if (kind === "machines") return MACHINES.filter((machine) => (id ? machine.id === id : machine.name === name));
    if (method === "GET") return [balancers.get(name ?? "") ?? []].flat();
    if (method === "DELETE") return { deleted: balancers.delete(key) };
    const made = balancers.get(key) ?? { id: key, ip: `192.0.2.${balancers.size + 1}` };
    balancers.set(key, made);
    return made;
  };
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      const answer = answerTo(request.method ?? "", new URL(request.url ?? "/", "http://acme"));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  host.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the cloud has no port");
  return `http://127.0.0.1:${address.port}`;
};

/** The program of the Go SDK's README, which a test of the SDK compares with it. */
const goProgram = async ({ directory }: Host): Promise<Started["command"]> => {
  const program = join(directory, "smallest");
  await exec("go", ["build", "-o", program, "./internal/smallest"], { cwd: inTree("provider-sdk/go") });
  return [program];
};

/** The first program of the Python SDK's README. */
const pythonProgram = async ({ directory }: Host): Promise<Started["command"]> => {
  const readme = await readFile(inTree("provider-sdk/python/README.md"), "utf8");
  const [, source = ""] = /<!-- snippet: smallest-provider -->\n```python\n([^]*?)```/.exec(readme) ?? [];
  const program = join(directory, "provider.py");
  await writeFile(program, source);
  return [inTree("provider-sdk/python/.venv/bin/python"), program];
};

test.concurrent.each([
  ["Go", goProgram],
  ["Python", pythonProgram],
])(
  "the smallest provider in %s, of the README, keeps the contract",
  async (_language, program) => {
    const { code, output, report } = await runKit({
      name: "smallest",
      title: "the smallest provider",
      cloud: "",
      // No load balancers: to report what the contract requires, a cloud must keep tags.
      level: "R",
      knownFailing: {},
      start: async (host) => {
        const url = await startAcme(host);
        const [first, second] = MACHINES;
        const config = {
          instance: { providerId: `acme://${first?.id}`, nodeName: first?.name, zone: "zone-1", addresses: first?.ips },
          otherInstance: { providerId: `acme://${second?.id}`, nodeName: second?.name },
          absentProviderId: "acme://m-0",
          testCloud: url,
        };
        return { command: await program(host), env: { ACME_URL: url }, config: JSON.stringify(config) };
      },
    });
    const failed = report.results.filter(({ result }) => result.kind === "fail" || result.kind === "error");
    expect({ code, failed, output }).toEqual({ code: 0, failed: [], output: expect.any(String) });
    const outcomes = Object.fromEntries(report.profiles.map(({ name, result }) => [name, result]));
    expect(outcomes).toMatchObject({ core: "conformant" });
    expect(Object.values(outcomes)).not.toContain("failed");
  },
  TEST_MS,
);
