import type { Flag, Problem } from "./flag.ts";
import { type FlagTable, commandFlags } from "./table.ts";

/** Values of flags, or of the items of a list flag, that their rows do not know. By name of the flag. */
export type KnownWords = Readonly<Record<string, readonly string[]>>;

/**
 * A script that bash sources. It parses the line itself, because bash splits words at `=` and `:`, and needs only bash. Unused flags of
 * upstream are not offered.
 */
export function bashCompletion(program: string, { byName }: FlagTable<unknown>, known: KnownWords): string {
  const name = `_${program.replaceAll("-", "_")}`;
  const flags = [...byName.values()];
  const names = [
    ...flags.map(({ name: flag, flag: { valueName } }) => `--${flag}${valueName === undefined ? "" : "="}`),
    ...[...commandFlags.keys()].map((flag) => `--${flag}`),
  ];
  const takers = flags.filter(({ flag }) => flag.valueName !== undefined).map(({ name: flag }) => `--${flag}`);
  const cases = flags.flatMap(({ name: flag, flag: row }) => {
    const action = actionOf(row, known[flag]);
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
  # readline replaces the text after the last word-break character.
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

/** They put candidates into `found` and set options of readline. */
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

# Items of a list: completes the last one; -name disables one.
${name}_items() {
  local last=\${value##*,} sign=
  [[ $value == *,* ]] && before+=\${value%,*},
  [[ $last == -* ]] && sign=-
  found=($(compgen -P "$sign" -W "$1" -- "\${last#-}"))
  ${name}_option nospace
}
`;
}

/** One of the functions of the script with its arguments; undefined: nothing completes the value. */
function actionOf({ shape, valueName }: Flag<unknown>, known: readonly string[] | undefined): string | undefined {
  if (valueName === "file") return `paths -f "$value"`;
  if (valueName === "directory") return `paths -d "$value"`;
  switch (shape.kind) {
    case "boolean":
      return `words "true false"`;
    case "choice":
      return `words "${shape.choices.join(" ")}"`;
    case "list": {
      const words = known ?? shape.choices;
      return words === undefined ? undefined : `items "${words.join(" ")}"`;
    }
    case "text":
    case "number":
    case "duration":
      return undefined;
    default:
      return shape satisfies never;
  }
}

/** The only argument that is not a flag: it prints a completion script. */
export const COMPLETION = "completion";

type Answer = { readonly kind: "completion" } | { readonly kind: "invalid"; readonly problems: readonly [Problem] };

/** The arguments after it: one shell. */
export function readCompletion([shell, more]: readonly string[]): Answer {
  if (shell === "bash" && more === undefined) return { kind: "completion" };
  const what =
    shell === undefined
      ? "needs the name of a shell"
      : shell === "bash"
        ? `takes no argument after the shell, but got "${more}"`
        : `does not exist for "${shell}"`;
  return { kind: "invalid", problems: [{ where: COMPLETION, what: `${what}; write ${COMPLETION} bash` }] };
}
