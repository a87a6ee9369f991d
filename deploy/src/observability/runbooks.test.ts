import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ALERTS } from "./alerts.ts";

const DOCS = new URL("../../../docs/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, DOCS), "utf8");

const pages = globSync("*.md", { cwd: new URL("runbooks/", DOCS) }).filter((file) => file !== "README.md");

/** Words in backticks must be in these pages, or in {@link FOREIGN}. */
const REFERENCES = globSync("reference/*.md", { cwd: DOCS })
  .filter((file) => file !== "reference/alerts.md")
  .map((file) => read(file))
  .join("\n");

/** Of Kubernetes' own objects and kubelet. */
const FOREIGN = new Set([
  "--node-ip",
  "Fail",
  "Ignore",
  "failurePolicy",
  "caBundle",
  "holderIdentity",
  "get",
  "up",
  "instance",
  "job",
]);

const VERBS = ["annotate", "auth", "certificate", "delete", "describe", "exec", "get", "logs", "top"];

const isOfKubectl = (line: string): boolean => VERBS.includes(/^kubectl (?:-n \S+ )?(\w+)/.exec(line)?.[1] ?? "");

/** `cloudwire approve node-deletion`: by the headings of the command line's page. */
const OWN_COMMANDS = [...read("reference/cli.md").matchAll(/^### ([a-z -]+)$/gm)].map(
  ([, name]) => `cloudwire ${name}`,
);

const SECTIONS = ["Meaning", "Impact", "Diagnosis", "Causes", "Mitigation", "Resolution"];

test("each alert has a runbook, and each runbook an alert", () => {
  expect(pages.toSorted()).toEqual(ALERTS.map(({ name }) => `${name}.md`).toSorted());
});

describe.each(pages)("runbook %s", (file) => {
  const text = read(`runbooks/${file}`);
  const prose = text.replaceAll(/```.*?```/gs, "");
  const quoted = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, one = ""]) => one);

  test("has every section, none empty", () => {
    const found = [...text.matchAll(/^## (.+)\n\n(?=\S)/gm)].map(([, title]) => title);
    expect(found).toEqual(SECTIONS);
    expect(text.startsWith(`# ${file.replace(".md", "")}\n`)).toBe(true);
  });

  test("names endpoints that are served", () => {
    const served = read("explanation/serving.md");
    const paths = quoted.filter((one) => one.startsWith("/")).map((path) => path.replace(/\?.*$/, ""));
    const isServed = (path: string): boolean =>
      served.includes(`\`${path}`) || served.includes(`\`${path.replace(/[^/]+$/, "NAME")}\``);
    expect(paths.filter((path) => !isServed(path))).toEqual([]);
  });

  test("names existing controllers", () => {
    const controllers = [...text.matchAll(/\/debug\/controllers\/([a-z-]+)/g)].map(([, name = ""]) => name);
    const known = read("reference/metrics.md");
    expect(controllers.filter((name) => !known.includes(`## ${name}\n`))).toEqual([]);
  });

  test("names existing flags, reasons and settings", () => {
    const words = quoted.filter((one) => /^(?:--[a-z][a-z-]+|[A-Za-z]+|[A-Z_]+)$/.test(one));
    const unknown = words.filter((word) => !FOREIGN.has(word) && !REFERENCES.includes(word));
    expect(unknown).toEqual([]);
  });

  test("names existing metrics", () => {
    const known = read("reference/metrics.md");
    const metrics = quoted.flatMap((one) => /^([a-z]+(?:_[a-z0-9]+)+)(?:\{.*\})?$/.exec(one)?.[1] ?? []);
    expect(metrics.filter((name) => !known.includes(`\`${name.replace(/_(?:bucket|count|sum)$/, "")}\``))).toEqual([]);
  });

  test("names existing events", () => {
    const known = read("reference/events.md");
    const events = [...text.matchAll(/field-selector reason=(\w+)|events? `(\w+)`/g)].map(([, a, b]) => a ?? b);
    expect(events.filter((reason) => !known.includes(`| \`${reason}\``))).toEqual([]);
  });

  test("has commands of kubectl and existing commands of cloudwire", () => {
    const blocks = [...text.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = ""]) => block.trim().split("\n"));
    const commands = [...blocks, ...quoted.filter((one) => /^(?:kubectl|cloudwire) /.test(one))];
    const unknown = commands.filter((line) => !isOfKubectl(line) && !OWN_COMMANDS.some((own) => line.startsWith(own)));
    expect(unknown).toEqual([]);
    expect(commands.some(isOfKubectl)).toBe(true);
  });
});
