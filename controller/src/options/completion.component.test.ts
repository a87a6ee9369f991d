import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { bashCompletion } from "./completion.ts";
import { TABLE } from "../app/options.ts";

const PROGRAM = "cloudwire-controller-manager";
const directory = mkdtempSync(join(tmpdir(), "completion-"));
writeFileSync(
  join(directory, "script"),
  bashCompletion(PROGRAM, TABLE, { controllers: ["service", "service-lb-controller", "route"] }),
);
mkdirSync(join(directory, "files/sub directory"), { recursive: true });
writeFileSync(join(directory, "files/some.yaml"), "");
afterAll(() => rmSync(directory, { recursive: true }));

/** What readline would put in the place of the word that `line` ends in. */
function complete(line: string, wordBreaks = " \t\n\"'><=;|&(:"): readonly string[] {
  const output = execFileSync(
    "bash",
    [
      "--norc",
      "-euc",
      `source ../script
      COMP_WORDBREAKS=$1 COMP_LINE=$2 COMP_POINT=\${#2}
      complete -p ${PROGRAM} > /dev/null
      set +e
      _cloudwire_controller_manager
      printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      wordBreaks,
      line,
    ],
    { cwd: join(directory, "files"), encoding: "utf8" },
  );
  return output.split("\n").filter((word) => word !== "");
}

describe("bashCompletion()", () => {
  test("offers every flag", () => {
    const offered = complete(`${PROGRAM} --`).map((word) => word.replace(/=$/, ""));
    const names = [...TABLE.byName.keys(), "help", "version"];
    expect(offered.toSorted()).toEqual(names.map((name) => `--${name}`).toSorted());
  });

  test.each([
    ["the command", "comp", ["completion"]],
    ["the shell", "completion ", ["bash"]],
    ["nothing after the shell", "completion bash ", []],
    ["nothing where a positional argument would be", "--leader-elect x", []],
    ["a flag that takes a value", "--cluster-n", ["--cluster-name="]],
    ["a boolean", "--configure-cl", ["--configure-cloud-routes"]],
    ["flags after other ones", "--v=2 --cluster-name blue --kubec", ["--kubeconfig="]],
    ["choices after =", "--logging-format=", ["text", "json"]],
    ["choices after a space", "--logging-format j", ["json"]],
    ["choices of a flag with underscores", "--logging_format=t", ["text"]],
    ["values of a boolean", "--leader-elect=", ["true", "false"]],
    ["a flag after a bare boolean", "--leader-elect --logging-fo", ["--logging-format="]],
    ["files", "--config=", ["some.yaml", "sub directory"]],
    ["files after a space", "--config some", ["some.yaml"]],
    ["directories", "--cert-dir=s", ["sub directory"]],
    ["items of a list", "--controllers=ser", ["service", "service-lb-controller"]],
    ["items after others", "--controllers=*,-route,ser", ["*,-route,service", "*,-route,service-lb-controller"]],
    ["items that are turned off", "--controllers=*,-rou", ["*,-route"]],
    ["cipher suites", "--tls-cipher-suites=TLS_AES_1", ["TLS_AES_128_GCM_SHA256"]],
    ["the path of a socket", "--provider=acme=unix://some", ["//some.yaml"]],
    ["nothing for free text", "--cluster-name=", []],
  ])("completes %s", (_what, typed, wanted) => {
    expect(complete(`${PROGRAM} ${typed}`).toSorted()).toEqual([...wanted].toSorted());
  });

  test("keeps the whole word if bash does not split it", () => {
    expect(complete(`${PROGRAM} --logging-format=t`, " \t\n")).toEqual(["--logging-format=text"]);
  });
});
