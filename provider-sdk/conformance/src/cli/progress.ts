import { colored, resultLine } from "../report/pretty.ts";
import type { RunEvent } from "../suite/run-conformance.ts";
import type { ProgramDeps } from "./program-deps.ts";

/** Back to the line's begin, and nothing on it. */
const clear = "\r\u001b[K";

/** One line on a terminal with the run's progress and current check; nothing elsewhere. Failures are printed at once, above it. */
export const progress = ({ terminal, err, columns = 80 }: ProgramDeps): ((event: RunEvent) => void) => {
  if (!terminal) return () => undefined;
  const running = new Set<string>();
  let [done, total, failed] = [0, 0, 0];
  const show = (): void => {
    const counts = `${done}/${total}${failed > 0 ? `, ${failed} failed` : ""}`;
    err(`${clear}${`${counts}  ${[...running].join(" ")}`.slice(0, columns - 1)}`);
  };
  return (event) => {
    switch (event.kind) {
      case "planned":
        total = event.planned.filter(({ skip }) => skip === undefined).length;
        return;
      case "started":
        running.add(event.check.id);
        show();
        return;
      case "finished": {
        const { id, result } = event.result;
        running.delete(id);
        done++;
        if (result.kind === "fail" || result.kind === "error") {
          failed++;
          err(`${clear}${resultLine(event.result, colored)}\n`);
        }
        if (done >= total) err(clear);
        else show();
        return;
      }
    }
    event satisfies never;
  };
};
