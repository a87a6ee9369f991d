import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { withTables } from "@cloudwire/provider-sdk/program";
import { tables } from "./tables.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const sourceDirectory = fileURLToPath(new URL("..", import.meta.url));

/** How IAM calls the services whose clients the sources import. */
const services = [
  ["@aws-sdk/client-ec2", "ec2"],
  ["@aws-sdk/client-elastic-load-balancing-v2", "elasticloadbalancing"],
] as const;

/** Each command that is made anywhere, as the action that it needs: `ec2:DescribeInstances`. */
const calledActions = (): readonly string[] => {
  const files = globSync("**/*.ts", { cwd: sourceDirectory }).filter((file) => !file.endsWith(".test.ts"));
  const actions = files.flatMap((file) => {
    const text = readFileSync(`${sourceDirectory}/${file}`, "utf8");
    const imported = (library: string): string =>
      [...text.matchAll(/import \{([^}]*)\} from "([^"]+)"/g)].find(([, , from]) => from === library)?.[1] ?? "";
    return [...text.matchAll(/new (\w+)Command\(/g)].map(([, name = ""]) => {
      const service = services.find(([library]) => imported(library).includes(`${name}Command`));
      return `${service?.[1]}:${name}`;
    });
  });
  return [...new Set(actions)].toSorted();
};

interface Policy {
  readonly Statement: readonly { readonly Action: readonly string[] }[];
}

const policyOf = (text: string): Policy => JSON.parse(/```json\n([^`]+)```/.exec(text)?.[1] ?? "{}");

describe("the README", () => {
  test("has the options and annotations of the program; else run: npm run gen -w @cloudwire/provider-aws", () => {
    expect(withTables(readme, tables)).toBe(readme);
  });

  test("has a policy that allows exactly what the program calls", () => {
    const allowed = policyOf(readme).Statement.flatMap(({ Action }) => Action);
    expect(allowed.toSorted()).toEqual(calledActions());
    expect(allowed).toContain("ec2:DescribeInstances");
  });
});
