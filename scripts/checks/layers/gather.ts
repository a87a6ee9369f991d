/** What gathers reads: it is given nothing to write with. */
import { controllerPath, controllerTarget, type Finding, type SourceFile } from "./file.ts";

const GATHER = /^(controllers\/[^/]+)\/(?:gather\.ts|gather\/[^/]+\.ts)$/;

/** Types that can write, and what is taken instead. */
const WRITERS: ReadonlyMap<string, string> = new Map([
  ["KubeClient", "its get and list alone"],
  ["ProviderChanges", "ProviderReads"],
  ["ProviderClient", "ProviderReads"],
  ["ChangeableProvider", "ReadableProvider"],
  ["Records", "the type of its readers"],
]);

export function gatherFindings(file: SourceFile): readonly Finding[] {
  const own = GATHER.exec(controllerPath(file) ?? "")?.[1];
  if (own === undefined) return [];
  return file.imports.flatMap((imported) => {
    const { line, names } = imported;
    const target = controllerTarget(file, imported);
    const isApply = target === `${own}/apply.ts` || target?.startsWith(`${own}/apply/`) === true;
    const messages = [
      ...(isApply ? ["imports from apply, which writes: gather only reads"] : []),
      ...names.flatMap((name) => {
        const instead = WRITERS.get(name);
        return instead === undefined ? [] : [`imports ${name}, which can write: gather takes ${instead}`];
      }),
    ];
    return messages.map((message): Finding => ({ rule: "gather", path: file.path, line, message }));
  });
}
