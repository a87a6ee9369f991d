// How large the sources are, and how far one has to read to follow one thing: of commits, or of the checkout as it is.
//   npm run measure                          the checkout
//   npm run measure -- --commit HEAD~1       a commit
//   npm run measure -- 5f3353f HEAD .        several, side by side; "." is the checkout
import { parseArgs } from "node:util";
import { measurementsOf } from "./measure/measurements.ts";
import { report } from "./measure/report.ts";
import { checkoutTexts, commitTexts } from "./measure/tree.ts";

const CHECKOUT = ".";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { commit: { type: "string", multiple: true, default: [] } },
});
const asked = [...positionals, ...values.commit];
const measured = [];
for (const name of asked.length === 0 ? [CHECKOUT] : asked) {
  const texts = name === CHECKOUT ? await checkoutTexts() : commitTexts(name);
  measured.push({ name: name === CHECKOUT ? "checkout" : name, measurements: measurementsOf(texts) });
}
console.log(report(measured));
