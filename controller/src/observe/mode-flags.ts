import type { Mode } from "./mode.ts";
import { choiceFlag, type Flag, problem, value } from "../options/flag.ts";

const MODES = ["active", "observe"] as const satisfies readonly Mode[];

/** Whether plans are carried out, or only made and reported. */
export const modeFlags = {
  mode: choiceFlag({
    group: "mode",
    choices: MODES,
    defaultValue: "active",
    help: "active: carry plans out; observe: make and report them, and write nothing to Kubernetes or a cloud, beside the controller manager in use",
  }),
  controllerMode: modesFlag(
    "controller",
    "mode of single controllers, such as service-lb-controller=observe; repeatable. It counts more than --mode; of what is said of a controller and of a provider observe counts more",
  ),
  providerMode: modesFlag(
    "provider",
    "mode of single providers and of the objects that they own, such as acme=observe; repeatable. It counts more than --mode",
  ),
};

/** `NAME=active` or `NAME=observe`. */
function modesFlag(what: "controller" | "provider", help: string): Flag<ReadonlyMap<string, Mode>> {
  return {
    group: "mode",
    help,
    valueName: `name=${MODES.join("|")}`,
    defaultValue: new Map(),
    shape: { kind: "list", pattern: `^[-a-z0-9.]+=(${MODES.join("|")})$` },
    parse: (text, before) => {
      const [, name = "", given = ""] = /^([^=]+)=(.*)$/.exec(text) ?? [];
      const mode = MODES.find((candidate) => candidate === given);
      if (name === "") return problem(`"${text}" is not NAME=MODE, such as acme=observe`);
      if (mode === undefined) return problem(`"${given}" is no mode; there are ${MODES.join(", ")}`);
      if (before?.has(name) === true) return problem(`${what} "${name}" is given two modes`);
      return value(new Map([...(before ?? []), [name, mode]]));
    },
    write: (modes) => [...modes].map(([name, mode]) => `${name}=${mode}`),
  };
}
