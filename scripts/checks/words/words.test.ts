import { describe, expect, it } from "vitest";
import { findWords } from "./find.ts";
import { WORD_RULES, type WordRule } from "./rules.ts";
import { subjectProblem } from "./subjects.ts";

const wordsIn = (text: string, rules: readonly WordRule[] = WORD_RULES): readonly string[] =>
  findWords("file.ts", text, rules).map(({ word }) => word.toLowerCase());

describe("each rule", () => {
  it.each(WORD_RULES.map((rule) => [rule.word, rule] as const))("%s finds its example", (_, rule) => {
    expect(wordsIn(rule.example, [rule])).toHaveLength(1);
  });

  it("leaves out the files in which its word is the standard term", () => {
    const rule: WordRule = { word: "holder", use: "owner", notIn: /lease/, example: "holder" };
    expect(findWords("src/lease.ts", "holder", [rule])).toEqual([]);
    expect(findWords("src/owner.ts", "holder", [rule])).toHaveLength(1);
  });

  const correct = WORD_RULES.flatMap((rule) => (rule.not ?? []).map((text) => [text, rule] as const));
  it.each(correct)("allows %s", (text, rule) => {
    expect(wordsIn(`the ${text} here`, [rule])).toEqual([]);
  });
});

describe("a word", () => {
  const rule: WordRule = { word: "judges?", use: "evaluate", example: "judge" };
  const inText: WordRule = { word: "tells?", use: "report", in: "text", example: "tells" };

  it.each(["judgeNode", "nodeJudge", "NODE_JUDGE", "node_judge", "Judges", "JudgeNode"])("is found in %s", (text) => {
    expect(wordsIn(text, [rule])).toHaveLength(1);
  });

  it("is found in the path of a file", () => {
    expect(findWords("src/node-judge.ts", "", [rule])).toEqual([
      { path: "src/node-judge.ts", line: 0, word: "judge", use: "evaluate" },
    ]);
  });

  it("is found with its line", () => {
    expect(findWords("a.md", "first\nthe judge\n", [rule])).toMatchObject([{ path: "a.md", line: 2 }]);
  });

  it("is not found inside a longer word", () => {
    expect(wordsIn("prejudged judgeship", [rule])).toEqual([]);
  });

  it("of a rule for text is not found in an identifier", () => {
    expect(wordsIn("tellOperator", [inText])).toEqual([]);
    expect(wordsIn("it tells", [inText])).toEqual(["tells"]);
  });
});

describe("a word with a reason", () => {
  const rules: readonly WordRule[] = [{ word: "judges?", use: "evaluate", example: "judge" }];
  const reasons = (path: string, text: string): readonly (string | undefined)[] =>
    findWords(path, text, rules, [{ path: "data.json", words: ["judge"], reason: "of another project" }]).map(
      ({ reason }) => reason,
    );

  it.each([
    ["on its own line", "judge() // words-ok: a court\n"],
    ["on the line before", "// words-ok: a court\njudge()\n"],
    ["in HTML", "<!-- words-ok: a court -->\njudge\n"],
    ["in a shell script", "# words-ok: a court\njudge\n"],
  ])("is excused by a comment %s", (_, text) => {
    expect(reasons("a.ts", text)).toEqual(["a court"]);
  });

  it("does not excuse the line after the next", () => {
    expect(reasons("a.ts", "// words-ok: a court\nx\njudge()\n")).toEqual([undefined]);
    expect(reasons("a.ts", "judge() // words-ok: a court\njudge()\n")).toEqual(["a court", undefined]);
  });

  it("is excused by the list, in that file alone", () => {
    expect(reasons("data.json", '"judge" "judges"')).toEqual(["of another project", undefined]);
    expect(reasons("other.json", '"judge"')).toEqual([undefined]);
  });
});

describe("the subject of a commit", () => {
  it.each(["Add a flag", "Fix the order of node addresses", "Speed up the first list", "Rename wish to desired state"])(
    "%s is correct",
    (subject) => {
      expect(subjectProblem(subject)).toBeUndefined();
    },
  );

  it.each([
    ["Say once what a key is", "starts with none of"],
    ["Added a flag", "starts with none of"],
    [`Add ${"x".repeat(69)}`, "has 73 characters"],
  ])("%s is not", (subject, problem) => {
    expect(subjectProblem(subject)).toContain(problem);
  });
});
