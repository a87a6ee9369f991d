import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScaffoldedProject } from "./support/scaffold.ts";

/** What a vendor types, as the README.md of the project says it. */
interface Commands {
  readonly install: string;
  readonly check: string;
  readonly test: string;
  readonly conformance: string;
}

const LANGUAGES: Readonly<Record<string, Commands>> = {
  typescript: {
    install: "npm install --no-audit --no-fund",
    check: "npm run check && npm run build",
    test: "npm test",
    conformance: "npm run conformance",
  },
  go: {
    install: "go mod tidy",
    check: 'go vet ./... && test -z "$(gofmt -l *.go internal)"',
    test: "go test ./...",
    conformance: "sh conformance.sh",
  },
  python: {
    install: "python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements-dev.txt",
    check: ".venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy",
    test: ".venv/bin/pytest",
    conformance: "sh conformance.sh",
  },
};

const INSTALL_MS = 600_000;

// Long names, that none of the templates was written with: what they are put into must stay well laid out.
const NAMES = [
  "zebra-cloud-of-the-north",
  "--domain",
  "controller.zebra-cloud.example.org",
  "--id-prefix",
  "zebra+north",
];

describe.each(Object.entries(LANGUAGES))("a generated project in %s", (language, commands) => {
  const started = new AsyncDisposableStack();
  let project: ScaffoldedProject;

  beforeAll(async () => {
    project = started.use(await ScaffoldedProject.create(language, ...NAMES));
    await project.run(commands.install);
  }, INSTALL_MS);
  afterAll(() => started.disposeAsync());

  test("passes its own checks and tests, unmodified", async () => {
    await expect(project.run(commands.check)).resolves.toBeTypeOf("string");
    await expect(project.run(commands.test)).resolves.toBeTypeOf("string");
  });

  test("passes the conformance kit, unmodified, load balancers made and removed included", async () => {
    const output = await project.run(commands.conformance);
    for (const profile of ["core", "instances-list", "loadbalancer"])
      expect(output).toMatch(new RegExp(`^${profile}: conformant, \\d+ passed$`, "m"));
  });
});
