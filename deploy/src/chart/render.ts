import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import type { KubernetesObject } from "../kubernetes-object.ts";

/** The chart's directory. */
export const CHART = fileURLToPath(new URL("../../charts/cloudwire-controller-manager", import.meta.url));

/** Built by `npm test`; HELM names another one. */
const HELM = fileURLToPath(new URL("../../../test/programs/helm/bin/helm", import.meta.url));

/** Names of the examples of values, such as `aws`. */
export const chartExamples = async (): Promise<readonly string[]> =>
  (await readdir(`${CHART}/examples`)).map((file) => file.replace(/\.yaml$/, "")).toSorted();

export interface RenderOptions {
  /** Name of an example, whose values come before `values`. */
  readonly example?: string;
  readonly values?: object;
  /** @default "kube-system" */
  readonly namespace?: string;
}

/** The command line's values for `helm template`, `install` and `upgrade`; `values` are its standard input. */
export const valueArgs = ({ example, namespace = "kube-system" }: RenderOptions): readonly string[] => [
  `--namespace=${namespace}`,
  ...(example === undefined ? [] : [`--values=${CHART}/examples/${example}.yaml`]),
  "--values=-",
];

/** What the chart makes of values, its test included. Throws with Helm's words where it refuses them. */
export const renderChart = async (options: RenderOptions = {}): Promise<readonly KubernetesObject[]> => {
  const args = ["template", "cloudwire", CHART, ...valueArgs(options)];
  return parseAllDocuments(await helm(args, { input: JSON.stringify(options.values ?? {}) }))
    .map((document): KubernetesObject | null => document.toJS())
    .filter((object) => object !== null);
};

interface HelmOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs Helm; answers what it prints, throws with what it complains of. */
export const helm = async (args: readonly string[], { input = "", env = {} }: HelmOptions = {}): Promise<string> => {
  const child = spawn(process.env["HELM"] ?? HELM, args, { env: { ...process.env, ...env } });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const printed: Buffer[] = [];
  const complained: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => printed.push(part));
  child.stderr.on("data", (part: Buffer) => complained.push(part));
  child.once("error", (error) => {
    reject(new Error(`cannot run helm (${error.message}); build it with npm test -- --only deploy`, { cause: error }));
  });
  child.once("close", resolve);
  // It may end before it has read all.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const code = await promise;
  if (code === 0) return Buffer.concat(printed).toString();
  throw new Error(`helm ${args[0]} failed (exit ${code}): ${Buffer.concat(complained).toString().trim()}`);
};
