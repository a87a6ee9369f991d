import { posix } from "node:path";
import { type Import, importsOf, parse, type Program } from "./source.ts";

/** Short names of the rules, by which exceptions name them. */
export type RuleName =
  | "cycles"
  | "directory-size"
  | "events"
  | "explain"
  | "gather"
  | "identity"
  | "libraries"
  | "metrics"
  | "module-state"
  | "packages"
  | "process"
  | "pure"
  | "rows"
  | "wire";

/** A place where a rule is broken. */
export interface Finding {
  readonly rule: RuleName;
  readonly path: string;
  readonly line: number;
  readonly message: string;
  /** What of it breaks the rule, where one file may do so in several ways. */
  readonly subject?: string;
}

/** A source as the rules look at it. */
export interface SourceFile {
  /** Below the checkout's top. */
  readonly path: string;
  /** A test, a benchmark, or what stands in a directory named test for them. */
  readonly isTest: boolean;
  readonly program: Program;
  readonly imports: readonly Import[];
  readonly lineAt: (offset: number) => number;
}

/** Sources of the controller, which have rules of their own. */
export const CONTROLLER = "controller/src";

export function readSource(path: string, text: string): SourceFile {
  const program = parse(path, text);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  return { path, isTest: isTest(path), program, imports: importsOf(program, lineAt), lineAt };
}

/** Its path below the controller's sources; undefined of a test, and of any other package. */
export function controllerPath({ path, isTest: inTest }: SourceFile): string | undefined {
  return inTest || !path.startsWith(`${CONTROLLER}/`) ? undefined : path.slice(CONTROLLER.length + 1);
}

/** Where a relative import leads, as a path below the top; undefined for a package. */
export function targetPath(path: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}

/** Where an import leads, as a path below the controller's sources; undefined for what is not among them. */
export function controllerTarget({ path }: SourceFile, { specifier }: Import): string | undefined {
  const target = targetPath(path, specifier);
  return target?.startsWith(`${CONTROLLER}/`) === true ? target.slice(CONTROLLER.length + 1) : undefined;
}

function isTest(path: string): boolean {
  const directories = path.split("/").slice(1, -1);
  // The package test is no test by its first directory's name alone: it is what is tested with.
  return /\.(?:test|bench)\.tsx?$/.test(path) || directories.includes("test");
}
