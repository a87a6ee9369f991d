import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Command } from "../command.ts";

/** The hidden command that completion scripts run. */
export const COMPLETE = "__complete";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export const completion: Command = {
  name: "completion",
  summary: "Print a shell completion script",
  operands: SHELLS.join(" | "),
  about: [
    "Print a script that completes commands, options and object names. The completion of object names requires a controller that responds quickly.",
    "For kubectl cloudwire, the completion of kubectl runs a program named kubectl_complete-cloudwire in PATH: create a link with that name to this program.",
  ],
  options: {},
  examples: [
    ["completion bash > /etc/bash_completion.d/cloudwire", "for all users of this machine"],
    ["completion zsh > ~/.zfunc/_cloudwire", "if ~/.zfunc is in fpath"],
    ["completion fish > ~/.config/fish/completions/cloudwire.fish", "for fish"],
  ],
  complete: async (_call, before) => (before.length === 0 ? SHELLS : []),
  run: async ({ operands, terminal }) => {
    const shell = SHELLS.find((known) => known === operands[0]);
    if (shell === undefined || operands.length > 1)
      throw new UsageError([`specify one of ${SHELLS.join(", ")}, not ${operands.join(" ") || "nothing"}`]);
    terminal.out(completionScript(shell));
    return EXIT.ok;
  },
};

export type Shell = (typeof SHELLS)[number];

/** A script that the shell sources. It gets all completions from the program. */
function completionScript(shell: Shell): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell];
}

// bash splits words at `=` and `:`, so the script splits the line itself and removes the part that bash keeps.
const BASH = `# bash completion for cloudwire: source this, or put it into /etc/bash_completion.d
_cloudwire() {
  local line=\${COMP_LINE:0:COMP_POINT} directive kept
  local -a words found
  COMPREPLY=()
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local current=\${words[\${#words[@]} - 1]}
  mapfile -t found < <("\${words[0]}" ${COMPLETE} -- "\${words[@]:1}" 2> /dev/null)
  ((\${#found[@]} > 0)) || return 0
  directive=\${found[\${#found[@]} - 1]#:}
  unset "found[\${#found[@]}-1]"
  [[ $directive =~ ^[0-9]+$ ]] || return 0
  kept=$current
  while [[ -n $kept && ! ( \${kept: -1} == [=:] && $COMP_WORDBREAKS == *"\${kept: -1}"* ) ]]; do kept=\${kept%?}; done
  ((directive & 2)) && compopt -o nospace 2> /dev/null
  if ((directive & 16)); then
    mapfile -t found < <(compgen -d -- "\${current#--*=}")
    compopt -o filenames 2> /dev/null
    kept=
  elif ((!(directive & 4))); then
    mapfile -t found < <(compgen -f -- "\${current#--*=}")
    compopt -o filenames 2> /dev/null
    kept=
  fi
  local word
  for word in "\${found[@]}"; do COMPREPLY+=("\${word#"$kept"}"); done
}
complete -F _cloudwire cloudwire kubectl-cloudwire
`;

const ZSH = `#compdef cloudwire kubectl-cloudwire
# zsh completion for cloudwire: source this, or put it as _cloudwire into a directory of fpath
_cloudwire() {
  local directive
  local -a lines
  lines=("\${(@f)$("\${words[1]}" ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  directive=\${lines[-1]#:}
  [[ $directive == <-> ]] || return 1
  lines=("\${(@)lines[1,-2]}")
  if ((directive & 16)); then _path_files -/
  elif ((!(directive & 4))); then _files
  elif ((directive & 2)); then compadd -S '' -- "\${(@)lines}"
  else compadd -- "\${(@)lines}"
  fi
}
if [[ \${funcstack[1]} == _cloudwire ]]; then _cloudwire "$@"; else compdef _cloudwire cloudwire kubectl-cloudwire; fi
`;

const FISH = `# fish completion for cloudwire: source this, or put it as cloudwire.fish into ~/.config/fish/completions
function __cloudwire_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] ${COMPLETE} -- $words[2..-1] 2> /dev/null)
  set -l directive (string replace : '' -- $lines[-1])
  string match -qr '^[0-9]+$' -- $directive; or return
  if test (math "bitand($directive, 4)") -eq 0
    __fish_complete_path (commandline -ct)
    return
  end
  test (count $lines) -gt 1; and string join \\n -- $lines[1..-2]
end
complete -c cloudwire -f -a '(__cloudwire_complete)'
complete -c kubectl-cloudwire -f -a '(__cloudwire_complete)'
`;
