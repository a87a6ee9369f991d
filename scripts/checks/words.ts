// The word check: `npm run check -- --only words`. No tracked text has a word that this project does not use, its file's name included,
// unless a comment "words-ok: reason" or scripts/checks/words/exceptions.ts says why it stays; and commit subjects have the agreed form.
//   node --conditions=development scripts/checks/words.ts --list          the words that are excused as well
//   node --conditions=development scripts/checks/words.ts docs/guides     just these directories or files
import process from "node:process";
import { parseArgs } from "node:util";
import { run } from "../lib/run.ts";
import { treeTexts } from "../lib/tree.ts";
import { ALLOWED_PLACES, EXCEPTIONS, SKIPPED_FILES } from "./words/exceptions.ts";
import { findWords } from "./words/find.ts";
import { WORD_RULES } from "./words/rules.ts";
import { LAST_UNCHECKED_COMMIT, subjectProblem } from "./words/subjects.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { list: { type: "boolean" } } });
const texts = [...(await treeTexts(...positionals))].filter(
  ([path]) => !SKIPPED_FILES.some(({ pattern }) => pattern.test(path)),
);
const places = texts.flatMap(([path, text]) => findWords(path, text, WORD_RULES, EXCEPTIONS));
const faults = places.filter(({ reason }) => reason === undefined);
const excused = places.filter(({ reason }) => reason !== undefined);
const subjects = await wrongSubjects();

for (const { path, line, word, use } of faults) console.log(`${path}:${line} "${word}": use ${use}`);
if (values.list === true)
  for (const { path, line, word, reason } of excused) console.log(`${path}:${line} "${word}" stays: ${reason}`);
for (const problem of subjects) console.log(problem);
if (excused.length > ALLOWED_PLACES)
  console.log(`${excused.length} words are excused, and at most ${ALLOWED_PLACES} may be`);
console.log(`${texts.length} files, ${faults.length} words to replace, ${excused.length} excused`);
process.exitCode = faults.length + subjects.length === 0 && excused.length <= ALLOWED_PLACES ? 0 : 1;

/** Of the commits since the rule holds; of none where the clone does not reach that far back. */
async function wrongSubjects(): Promise<readonly string[]> {
  const { code, output } = await run(
    "git",
    ["log", "--no-merges", "--format=%h %s", `${LAST_UNCHECKED_COMMIT}..HEAD`],
    { output: "keep" },
  );
  if (code !== 0) {
    console.log(`Subjects of commits are not checked: this clone does not have commit ${LAST_UNCHECKED_COMMIT}`);
    return [];
  }
  return output
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [hash = "", ...rest] = line.split(" ");
      const problem = hash === "" ? undefined : subjectProblem(rest.join(" "));
      return problem === undefined ? [] : [`commit ${hash} "${rest.join(" ")}" ${problem}`];
    });
}
