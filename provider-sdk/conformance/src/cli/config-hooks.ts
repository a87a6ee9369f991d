import { dirname, resolve } from "node:path";
import type { Fixtures, ScaleFixture } from "../suite/fixtures.ts";
import { type Hook, hookNames, type HookName, undoOf } from "../suite/hooks.ts";
import { placeholdersOf } from "../suite/run-hook.ts";
import type { Section } from "./config-section.ts";

/** Reads `hooks`: what the kit may do to the vendor's cloud. Commands run in the directory of the configuration. */
export const hooks = (section: Section | undefined, path: string): Pick<Fixtures, "hooks"> => {
  if (section === undefined) return {};
  const found: Partial<Record<HookName, Hook>> = {};
  for (const name of hookNames) {
    const hook = section.section(name);
    if (hook === undefined) continue;
    const undo = undoOf(name);
    if (undo !== undefined && !section.keys.includes(undo))
      section.problem(name, `needs ${undo} beside it: what is done to the cloud has to be undone`);
    const read = hookOf(section, name, hook, dirname(resolve(path)));
    if (read !== undefined) found[name] = read;
  }
  section.refuseOthers();
  return { hooks: found };
};

const hookOf = (hooksSection: Section, name: HookName, section: Section, directory: string): Hook | undefined => {
  const timeoutSeconds = section.positive("timeoutSeconds");
  const timeout = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 };
  const command = section.texts("command");
  const request = section.section("http");
  section.refuseOthers();
  if ((command.length === 0) === (request === undefined)) {
    hooksSection.problem(name, "has to have either command, a list of texts, or http");
    return undefined;
  }
  return request === undefined ? { kind: "command", command, directory, ...timeout } : { ...http(request), ...timeout };
};

const http = (section: Section): Extract<Hook, { readonly kind: "http" }> => {
  const url = section.needed("url");
  const { headers = {} } = section.textTable("headers");
  const { body } = section.optional("body");
  const { method = "POST" } = section.optional("method");
  section.refuseOthers();
  for (const unknown of unknownPlaceholders([url, body ?? "", ...Object.values(headers)]))
    section.problem(
      "url",
      `names \${${unknown}}, which is neither in the kit's environment nor one of the run's values`,
    );
  if (!url.includes("${") && url !== "" && !URL.canParse(url)) section.problem("url", "has to be a URL");
  return { kind: "http", method, url, headers, ...(body !== undefined && { body }) };
};

const unknownPlaceholders = (texts: readonly string[]): readonly string[] =>
  texts.flatMap(placeholdersOf).filter((name) => !name.startsWith("CONFORMANCE_") && process.env[name] === undefined);

/** Reads `scale`: how much the cloud of a run of level X can take. */
export const scale = (section: Section | undefined): Pick<Fixtures, "scale"> => {
  if (section === undefined) return {};
  const [instances, nodes, loadBalancers] = [
    section.positive("instances"),
    section.positive("nodes"),
    section.positive("loadBalancers"),
  ];
  const found: ScaleFixture = {
    ...(instances !== undefined && { instances }),
    ...(nodes !== undefined && { nodes }),
    ...(loadBalancers !== undefined && { loadBalancers }),
  };
  section.refuseOthers();
  return { scale: found };
};
