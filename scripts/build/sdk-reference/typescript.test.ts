import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { undocumented } from "./model.ts";
import { renderPage } from "./page.ts";
import { readTypeScript } from "./typescript.ts";

const read = async (files: Readonly<Record<string, string>>) => {
  const directory = await mkdtemp(join(tmpdir(), "sdk-reference-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return readTypeScript([{ name: "pkg", doc: "", indexPath: join(directory, "index.ts") }]);
};

const files = {
  "index.ts": `export { absent, type Absent, Failure, type Handlers } from "./words.ts";`,
  "words.ts": `
    import type { Base } from "./base.ts";

    /** It is not there, see {@link absent}. */
    export interface Absent {
      readonly kind: "absent";
      /** How that
       * is known. */
      readonly basis?: string | undefined;
      readonly undocumented: number;
    }

    /** Says so. */
    export const absent = async (basis: string, /* not of interest */ times = 1): Promise<Absent> => {
      return { kind: "absent", basis, undocumented: times };
    };

    /** How it fails. */
    export class Failure extends Error {
      override readonly name = "Failure";
      readonly #secret = 1;
      /** What. */
      readonly code: string = "X";
      constructor(code: string) { super(code); this.code = code + this.#secret; }
    }

    export type Handlers = Base & ({ readonly get: string } | { readonly get?: undefined });
  `,
  "base.ts": `
    export interface Base {
      /** Of all. */
      readonly list: () => void;
      readonly never?: undefined;
    }
  `,
};

test("readTypeScript() finds every export, its members and the parts that cannot be imported", async () => {
  const [found] = await read(files);
  expect(found?.exports).toEqual([
    {
      name: "absent",
      signature: "async function absent(basis: string, times = 1): Promise<Absent>",
      doc: "Says so.",
      members: [],
      parts: [],
    },
    {
      name: "Absent",
      signature: "interface Absent",
      doc: "It is not there, see `absent`.",
      members: [
        { name: "kind", signature: 'kind: "absent"', doc: "Discriminator." },
        { name: "basis", signature: "basis?: string", doc: "How that\nis known." },
        { name: "undocumented", signature: "undocumented: number", doc: "" },
      ],
      parts: [],
    },
    {
      name: "Failure",
      signature: "class Failure extends Error",
      doc: "How it fails.",
      members: [
        { name: "code", signature: "code: string", doc: "What." },
        { name: "constructor", signature: "constructor(code: string)", doc: "" },
      ],
      parts: [],
    },
    {
      name: "Handlers",
      signature: "type Handlers = Base & ({ get: string } | { get?: undefined })",
      doc: "",
      members: [],
      parts: [
        {
          name: "Base",
          signature: "interface Base",
          doc: "",
          members: [{ name: "list", signature: "list: () => void", doc: "Of all." }],
          parts: [],
        },
      ],
    },
  ]);
});

test("undocumented() names exports, members and parts without text", async () => {
  expect((await read(files)).flatMap(undocumented)).toEqual([
    "pkg: Absent.undocumented",
    "pkg: Failure.constructor",
    "pkg: Handlers",
    "pkg: Handlers, Base",
  ]);
});

test("readTypeScript() wants the answer of an exported function to be said", async () => {
  const answer = read({
    "index.ts": `export { one } from "./one.ts";`,
    "one.ts": "/** One. */ export const one = () => 1;",
  });
  await expect(answer).rejects.toThrow("say what one() answers, which is exported");
});

test("renderPage() links to names that differ by case alone as GitHub anchors them", async () => {
  const page = renderPage({ title: "T", intro: "", language: "ts", source: "s", packages: await read(files) });
  expect(page).toContain("To call: [`absent`](#absent) · [`Failure`](#failure)\n\nTypes: [`Absent`](#absent-1) ·");
  expect(page).toContain("- `basis?: string`<br>How that is known.");
});
