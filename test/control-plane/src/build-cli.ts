import { buildControlPlane } from "./build.ts";
import { ControlPlaneError } from "./errors.ts";

// Command: builds the minors named as arguments, or the default one.
const minors = process.argv.slice(2);
try {
  for (const minor of minors.length === 0 ? [undefined] : minors) {
    const { dir } = await buildControlPlane({ minor });
    console.log(dir);
  }
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
