/** Writes docs/reference/cli.md from the table of commands, and docs/reference/replay.md from the compared fields. */
import { writeFileSync } from "node:fs";
import { cliPage } from "./cli-page.ts";
import { replayPage } from "./replay-page.ts";
import { commandSurface } from "./surface.ts";

writeFileSync(new URL("../../docs/reference/cli.md", import.meta.url), cliPage());
writeFileSync(new URL("../../docs/reference/replay.md", import.meta.url), replayPage());
writeFileSync(new URL("../../docs/surface/cli.txt", import.meta.url), commandSurface());
