import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { errorReasons } from "../gen/reasons.ts";
import { readDescriptorSet } from "../src/descriptor-set.ts";
import { readMethods } from "./method-table.ts";
import { optionsOf, packageName, readRegistry } from "./tables.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const registry = readRegistry(readDescriptorSet());
const messages = [...registry]
  .filter((type) => type.kind === "message")
  .filter((message) => message.file.proto.package === packageName)
  .filter((message) => !message.file.name.endsWith("options"));

/** Path of a field in the source info: FileDescriptorProto.message_type = 4, DescriptorProto.field = 2. */
const comments = new Map(
  [...registry.files].flatMap((file) =>
    (file.proto.sourceCodeInfo?.location ?? []).map(
      (location) => [`${file.name}:${location.path.join(".")}`, location.leadingComments.trim()] as const,
    ),
  ),
);

const fields = messages.flatMap((message) =>
  message.fields.map((field, index) => ({
    name: `${message.name}.${field.name}`,
    inOneof: field.oneof !== undefined && !field.proto.proto3Optional,
    required: optionsOf(registry, "rules", field)["required"] === true,
    comment: comments.get(`${message.file.name}:4.${message.file.messages.indexOf(message)}.2.${index}`) ?? "",
  })),
);

describe("the contract", () => {
  test("has fields to check", () => {
    expect(fields.length).toBeGreaterThan(250);
  });

  test("says REQUIRED or OPTIONAL first of every field", () => {
    const silent = fields.filter((field) => !field.inOneof && !/^(REQUIRED|OPTIONAL)\b/.test(field.comment));
    expect(silent.map((field) => field.name)).toEqual([]);
  });

  test("says REQUIRED in words where the rules say it", () => {
    const contradicting = fields.filter((field) => field.required && !field.comment.startsWith("REQUIRED"));
    expect(contradicting.map((field) => field.name)).toEqual([]);
  });

  test("describes every member of a oneof", () => {
    const undescribed = fields.filter((field) => field.inOneof && field.comment.length < 4);
    expect(undescribed.map((field) => field.name)).toEqual([]);
  });

  test("names every reason in an RPC, a group or as one of items only", () => {
    const source = readFileSync(join(root, "README.md"), "utf8");
    const table = source.slice(source.indexOf("<!-- begin methods"), source.indexOf("<!-- end methods"));
    const unnamed = Object.entries(errorReasons)
      .filter(([reason, rule]) => !("itemOnly" in rule) && !table.includes(`\`${reason}\``))
      .map(([reason]) => reason);
    expect(unnamed).toEqual([]);
  });

  test("gives every RPC only reasons of the list", () => {
    const unknown = readMethods(registry).flatMap((row) =>
      [...row.ownReasons, ...row.itemReasons].filter((reason) => !(reason in errorReasons)),
    );
    expect(unknown).toEqual([]);
  });

  test("gives every rule of the specification an id of its own", () => {
    const ids = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^(?:- )?.*?\[([A-Z]+-\d+)\] /gm)]
      .filter((match) => match[0].startsWith("- ["))
      .map((match) => match[1]);
    expect(ids.length).toBeGreaterThan(60);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("buf breaking", () => {
  const copy = mkdtempSync(join(tmpdir(), "contract-"));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test("refuses a field whose number was changed", () => {
    for (const entry of ["cloudprovider", "google", "grpc", "buf.yaml"]) {
      cpSync(join(root, entry), join(copy, entry), { recursive: true });
    }
    const image = join(copy, "released.binpb");
    execFileSync("buf", ["build", "-o", image], { cwd: copy });
    const file = join(copy, "cloudprovider/v1/instance.proto");
    writeFileSync(file, readFileSync(file, "utf8").replace("string state_reason = 8", "string state_reason = 80"));
    const compare = () =>
      execFileSync("buf", ["breaking", "--against", image], { cwd: copy, encoding: "utf8", stdio: "pipe" });
    expect(compare).toThrow(expect.objectContaining({ stdout: expect.stringContaining("state_reason") }));
  });
});
