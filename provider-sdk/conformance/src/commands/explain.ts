import { type Check, profiles } from "../suite/check.ts";
import { ruleTexts } from "../gen/rule-texts.ts";
import { namedFaults } from "../selftest/mutants.ts";

const widest = 110;

/** All that is known of a check: what it is worth, what usually fails it, the rules that it holds a provider to, and what it takes to run. */
export const explanation = (check: Check): string => {
  const { id, title, why, level, profile, rules, fixtures = [], hooks = [], requires = [], capability = "" } = check;
  const claims = [profiles[profile], capability].filter((path) => path !== "");
  const facts: readonly (readonly [string, string])[] = [
    ["level", levelTexts[level]],
    ["profile", profile],
    ["runs if", claims.length === 0 ? "always" : `the provider claims ${claims.join(" and ")}`],
    ["needs", [...fixtures, ...hooks.map((name) => `hooks.${name}`)].join(", ") || "no configuration"],
    ["requires", requires.join(", ") || "no other check"],
    ["counts", check.advisory === true ? "no: it is advice" : "yes"],
  ];
  return `${[
    id,
    "",
    ...wrapped(`${title}.`, "  "),
    "",
    "What it saves you from",
    ...wrapped(why, "  "),
    "",
    "What usually fails it",
    ...causesOf(id).flatMap((cause) => wrapped(`- ${cause}`, "  ", "    ")),
    "",
    "What the specification says (proto/README.md)",
    ...rules.flatMap((rule) => wrapped(`${rule}  ${ruleTexts[rule] ?? ""}`, "  ", "    ")),
    "",
    "What it takes",
    ...facts.map(([name, text]) => `  ${name.padEnd(10)}${text}`),
    "",
    `Alone: cloudwire-conformance run --run ${id} --level ${level} --trace …`,
  ].join("\n")}\n`;
};

/** The faults that the check is known to find: the selftest puts each into a correct provider. */
export const causesOf = (id: string): readonly string[] =>
  namedFaults.filter(({ fails }) => fails.includes(id)).map(({ fault }) => fault);

/** Breaks a text into lines; each begins with the indent, those after the first with `hanging`. */
const wrapped = (text: string, indent: string, hanging = indent): readonly string[] => {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line.trim() !== "" && line.length + word.length + 1 > widest) {
      lines.push(line);
      line = hanging;
    }
    line += line.trim() === "" ? word : ` ${word}`;
  }
  return [...lines, line];
};

/** What the letters of levels mean. */
export const levelTexts: Readonly<Record<Check["level"], string>> = {
  S: "S: needs nothing but the provider",
  R: "R: reads from the cloud",
  M: "M: creates and removes resources in the cloud",
  D: "D: restarts and kills the provider",
  X: "X: many things at once",
};
