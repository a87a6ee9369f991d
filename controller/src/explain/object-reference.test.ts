import { describe, expect, test } from "vitest";
import { parseObject } from "./object-reference.ts";

const FORMS = "node/NAME, service/NAMESPACE/NAME, route/NODE or provider/NAME";
const RULE = "names are of lower-case letters, digits, - and ., 253 at most";

describe("parseObject()", () => {
  test.each([
    { text: "node/worker-1.example", kind: "node", name: "worker-1.example" },
    { text: "service/shop/web", kind: "service", name: "shop/web" },
    { text: "route/worker-1", kind: "route", name: "worker-1" },
    { text: "provider/aws", kind: "provider", name: "aws" },
  ])("reads $text", ({ text, kind, name }) => {
    expect(parseObject(text)).toEqual({ ref: text, kind, name });
  });

  test.each([
    { text: undefined, problems: [`object: which one? Write ?object=${FORMS}`] },
    { text: "", problems: [`object: which one? Write ?object=${FORMS}`] },
    { text: "pod/a", problems: [`object=pod/a: there is no kind "pod"; write ${FORMS}`] },
    { text: "node", problems: ["object=node is no node; write node/NAME, such as node/worker-1"] },
    { text: "node/a/b", problems: ["object=node/a/b is no node; write node/NAME, such as node/worker-1"] },
    {
      text: "service/web",
      problems: ["object=service/web is no service; write service/NAMESPACE/NAME, such as service/shop/web"],
    },
    {
      text: "service/Shop/we_b",
      problems: [
        `object=service/Shop/we_b: "Shop" is no name: ${RULE}; write service/NAMESPACE/NAME, such as service/shop/web`,
        `object=service/Shop/we_b: "we_b" is no name: ${RULE}; write service/NAMESPACE/NAME, such as service/shop/web`,
      ],
    },
    { text: "node/", problems: [`object=node/: "" is no name: ${RULE}; write node/NAME, such as node/worker-1`] },
  ])("says what to write instead of $text", ({ text, problems }) => {
    expect(parseObject(text)).toEqual({ problems });
  });
});
