import type { Flag, Problem } from "./flag.ts";
import { type FlagTable, commandFlags } from "./table.ts";

/** Words that a flag's value, or each item of its list, may be. By name of the flag; for what its row cannot know. */
export type KnownWords = Readonly<Record<string, readonly string[]>>;

/** What completes a value. */
type Values =
  | { readonly kind: "none" }
  | { readonly kind: "files" }
  | { readonly kind: "directories" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "items"; readonly words: readonly string[] };

/**
 * A script that bash sources. It reads the line itself, for bash breaks words at `=` and `:`, and needs no package beside bash. Flags that
 * are only taken for the sake of old manifests are not offered.
 */
export function bashCompletion(program: string, { byName }: FlagTable<unknown>, known: KnownWords): string {
  const name = `_${program.replaceAll("-", "_")}`;
  const flags = [...byName.values()].map(({ name: flag, flag: row }) => ({
    flag,
    row,
    values: valuesOf(row, known[flag]),
  }));
  const names = [
    ...flags.map(({ flag, row }) => `--${flag}${row.valueName === undefined ? "" : "="}`),
    ...[...commandFlags.keys()].map((flag) => `--${flag}`),
  ];
  const takers = flags.filter(({ row }) => row.valueName !== undefined).map(({ flag }) => `--${flag}`);
  const cases = flags.flatMap(({ flag, values }) => {
    const action = actionOf(values);
    return action === undefined ? [] : [`    --${flag}) ${name}_${action} ;;`];
  });
  return `# bash completion for ${program}: source this, or put it into /etc/bash_completion.d

${name}() {
  local line=\${COMP_LINE:0:COMP_POINT} current previous flag value before= kept item
  local -a words found=()
  COMPREPLY=()
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]} - 1]}
  previous=\${words[\${#words[@]} - 2]//_/-}
  if [[ \${words[1]} == ${COMPLETION} ]] && ((\${#words[@]} > 2)); then
    ((\${#words[@]} == 3)) && COMPREPLY=($(compgen -W "bash" -- "$current"))
    return
  fi
  if [[ $current == --*=* ]]; then
    flag=\${current%%=*} value=\${current#*=} before=\${current%%=*}=
    flag=\${flag//_/-}
  elif [[ " ${takers.join(" ")} " == *" $previous "* ]]; then
    flag=$previous value=$current
  elif [[ $current == -* ]]; then
    found=($(compgen -W "${names.join(" ")}" -- "$current"))
    [[ \${#found[@]} == 1 && \${found[0]} == *= ]] && ${name}_option nospace
    COMPREPLY=("\${found[@]}")
    return
  else
    ((\${#words[@]} == 2)) && COMPREPLY=($(compgen -W "${COMPLETION}" -- "$current"))
    return
  fi
  case $flag in
${cases.join("\n")}
    *) [[ $value == *unix://* ]] && before+=\${value%%unix://*}unix:// && ${name}_paths -f "\${value#*unix://}" ;;
  esac
  # What readline replaces begins after the last character of the word that breaks words.
  kept=$current
  while [[ -n $kept && ! ( \${kept: -1} == [=:] && $COMP_WORDBREAKS == *"\${kept: -1}"* ) ]]; do kept=\${kept%?}; done
  for item in "\${found[@]}"; do
    item=$before$item
    COMPREPLY+=("\${item#"$kept"}")
  done
}

${functions(name)}
complete -F ${name} ${program}
`;
}

/** What offers candidates in `found`, and readline's options. */
function functions(name: string): string {
  return `${name}_option() {
  compopt -o "$1" 2> /dev/null
  return 0
}

${name}_paths() {
  mapfile -t found < <(compgen "$1" -- "$2")
  ${name}_option filenames
}

${name}_words() {
  found=($(compgen -W "$1" -- "$value"))
}

# Items of a list: the last one is being written; -name turns one off.
${name}_items() {
  local last=\${value##*,} sign=
  [[ $value == *,* ]] && before+=\${value%,*},
  [[ $last == -* ]] && sign=-
  found=($(compgen -P "$sign" -W "$1" -- "\${last#-}"))
  ${name}_option nospace
}
`;
}

function valuesOf(flag: Flag<unknown>, known: readonly string[] | undefined): Values {
  const { shape, valueName } = flag;
  if (valueName === "file") return { kind: "files" };
  if (valueName === "directory") return { kind: "directories" };
  switch (shape.kind) {
    case "boolean":
      return { kind: "words", words: ["true", "false"] };
    case "choice":
      return { kind: "words", words: shape.choices };
    case "list": {
      const words = known ?? shape.choices;
      return words === undefined ? { kind: "none" } : { kind: "items", words };
    }
    case "text":
    case "number":
    case "duration":
      return { kind: "none" };
    default:
      return shape satisfies never;
  }
}

/** One of the functions of the script, and its arguments. */
function actionOf(values: Values): string | undefined {
  switch (values.kind) {
    case "none":
      return undefined;
    case "files":
      return `paths -f "$value"`;
    case "directories":
      return `paths -d "$value"`;
    case "words":
      return `words "${values.words.join(" ")}"`;
    case "items":
      return `items "${values.words.join(" ")}"`;
    default:
      return values satisfies never;
  }
}

/** The one argument that is no flag: it prints a script for a shell. */
export const COMPLETION = "completion";

type Answer = { readonly kind: "completion" } | { readonly kind: "invalid"; readonly problems: readonly [Problem] };

/** What follows the word: one shell. */
export function readCompletion([shell, more]: readonly string[]): Answer {
  if (shell === "bash" && more === undefined) return { kind: "completion" };
  const what =
    shell === undefined
      ? "needs the name of a shell"
      : shell === "bash"
        ? `takes nothing after the shell, but there is "${more}"`
        : `there is none for "${shell}"`;
  return { kind: "invalid", problems: [{ where: COMPLETION, what: `${what}; write ${COMPLETION} bash` }] };
}
