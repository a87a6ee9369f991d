/** Directories in order: one imports only from lower rows, never upward, never sideways. Type imports count. */
import { CONTROLLER, type Finding, type SourceFile, targetPath } from "./file.ts";

interface RowRule {
  readonly sources: string;
  /** Lowest first. `x/*` means that each directory in x is a neighbor of the others; `*.ts` are the files beside the directories. */
  readonly rows: readonly (readonly string[])[];
}

const ROWS: readonly RowRule[] = [
  {
    sources: CONTROLLER,
    rows: [
      ["api"],
      ["util"],
      ["options"],
      ["telemetry"],
      ["observe"],
      ["kube", "provider", "workqueue"],
      ["runtime"],
      ["leadership", "server"],
      ["controllers/*"],
      // Shows what the controllers say; they know nothing of it.
      ["explain"],
      ["app"],
      ["*.ts"],
    ],
  },
  {
    sources: `${CONTROLLER}/provider`,
    rows: [["model"], ["convert"], ["connection", "limits", "observers"], ["calls"], ["ownership", "lookup"], ["*.ts"]],
  },
];

export function rowFindings(file: SourceFile): readonly Finding[] {
  const { path, isTest } = file;
  if (isTest) return [];
  return ROWS.filter(({ sources }) => path.startsWith(`${sources}/`)).flatMap((rule): readonly Finding[] => {
    const from = placeOf(rule, path);
    if (from === undefined) {
      const message = "is in a directory that has no row: give it one in scripts/checks/layers/rows.ts";
      return [{ rule: "rows", path, line: 1, message }];
    }
    return importFindings(file, rule, from);
  });
}

function importFindings({ path, imports }: SourceFile, rule: RowRule, from: Place): readonly Finding[] {
  return imports.flatMap(({ specifier, line }) => {
    const target = targetPath(path, specifier);
    if (target?.startsWith(`${rule.sources}/`) !== true) return [];
    const to = placeOf(rule, target);
    if (to === undefined || to.unit === from.unit || to.row < from.row) return [];
    const direction = to.row === from.row ? "sideways" : "upward";
    const message = `imports ${to.unit} from ${from.unit}, ${direction}: a directory may import only from lower rows`;
    return [{ rule: "rows", path, line, message, subject: to.unit }];
  });
}

interface Place {
  readonly row: number;
  /** The directory as its row names it, and files beside the directories together. */
  readonly unit: string;
}

function placeOf(rule: RowRule, path: string): Place | undefined {
  const [first = "", second, third] = path.slice(rule.sources.length + 1).split("/");
  const name = second === undefined ? "*.ts" : first;
  for (const [row, units] of rule.rows.entries()) {
    if (units.includes(name)) return { row, unit: name };
    if (units.includes(`${first}/*`) && third !== undefined) return { row, unit: `${first}/${second}` };
  }
  return undefined;
}
