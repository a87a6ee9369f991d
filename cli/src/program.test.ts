import { expect, test } from "vitest";
import { callingOf } from "./program.ts";

test.each([
  ["/usr/local/bin/cloudwire", { program: "cloudwire", args: ["status"] }],
  ["/opt/cloudwire/cloudwire.mjs", { program: "cloudwire", args: ["status"] }],
  ["/usr/local/bin/kubectl-cloudwire", { program: "kubectl cloudwire", args: ["status"] }],
  ["/bin/kubectl_complete-cloudwire", { program: "kubectl cloudwire", args: ["__complete", "--", "status"] }],
  ["/src/main.ts", { program: "cloudwire", args: ["status"] }],
])("called as %s it is %j", (path, calling) => {
  expect(callingOf(path, ["status"])).toEqual(calling);
});
