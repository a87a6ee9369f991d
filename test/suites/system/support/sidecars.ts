import { fileURLToPath } from "node:url";

/** In which language the sidecar of a run of the suite is written; all of them are in front of the same simulated cloud. */
export type Sidecar = "typescript" | "go" | "python";

const SIDECARS: readonly Sidecar[] = ["typescript", "go", "python"];

/** How a sidecar that is not in TypeScript is started. */
export interface ForeignSidecar {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Which one this run is of: CLOUDWIRE_TEST_SIDECAR says so, and the projects of vitest.config.ts set it. */
export function readSidecar(env: Readonly<Record<string, string | undefined>>): Sidecar {
  const name = env["CLOUDWIRE_TEST_SIDECAR"] ?? "typescript";
  const known = SIDECARS.find((sidecar) => sidecar === name);
  if (known === undefined) throw new Error(`CLOUDWIRE_TEST_SIDECAR=${name}: must be one of ${SIDECARS.join(", ")}`);
  return known;
}

/** As `npm test` builds it; nothing for the one that Harness starts like any program of the repository. */
export function sidecarProgram(sidecar: Sidecar): ForeignSidecar | undefined {
  switch (sidecar) {
    case "typescript":
      return undefined;
    case "go":
      return { command: inTree("providers/simulated-go/bin/provider-simulated-go"), args: [], env: {} };
    case "python":
      return {
        command: inTree("provider-sdk/python/.venv/bin/python"),
        args: [inTree("providers/simulated-python/main.py")],
        env: { PYTHONUNBUFFERED: "1" },
      };
    default:
      return sidecar satisfies never;
  }
}

function inTree(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
