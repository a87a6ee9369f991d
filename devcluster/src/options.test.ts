import { describe, expect, test } from "vitest";
import { parseCommand } from "./options.ts";

describe("parseCommand()", () => {
  test.each<[readonly string[], object]>([
    [[], { kind: "run", host: "127.0.0.1", port: 6443, kubeconfigPath: undefined }],
    [["--port", "0", "--host=::1"], { kind: "run", host: "::1", port: 0, kubeconfigPath: undefined }],
    [["--kubeconfig-out", "k"], { kind: "run", host: "127.0.0.1", port: 6443, kubeconfigPath: "k" }],
  ])("reads %j", (args, expected) => {
    expect(parseCommand(args)).toEqual(expected);
  });

  test.each<[readonly string[], readonly string[]]>([
    [["--bogus"], ["unknown flag --bogus: see --help for the flags there are"]],
    [["-x"], ["unknown flag -x: see --help for the flags there are"]],
    [["start"], ['unexpected argument "start": only flags are taken, see --help']],
    [["--port=http"], ["--port=http is no port: give a number from 0 to 65535"]],
    [
      ["--port=65536", "--nope"],
      [
        "unknown flag --nope: see --help for the flags there are",
        "--port=65536 is no port: give a number from 0 to 65535",
      ],
    ],
    [["--kubeconfig-out"], ["--kubeconfig-out needs a value: --kubeconfig-out=PATH"]],
  ])("names every problem of %j", (args, problems) => {
    expect(parseCommand(args)).toEqual({ kind: "invalid", problems });
  });

  test("explains every flag", () => {
    const command = parseCommand(["--help", "--bogus"]);
    expect(command).toMatchObject({ kind: "help", text: expect.stringMatching(/--host.*--port.*--kubeconfig-out/s) });
  });
});
