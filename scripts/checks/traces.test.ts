import { describe, expect, test } from "vitest";
import { findTraces } from "./traces.ts";

// Put together here, or this file would be found itself.
const path = (...parts: readonly string[]) => `/${parts.join("/")}`;
const site = (host: string) => ["https:", "", host].join("/");
const url = (host: string) => `${site(host)}/package`;

describe("findTraces()", () => {
  test.each([
    ["a home directory", `see ${path("home", "ann", "notes")}`, path("home", "ann", "notes")],
    ["root's home", `KUBECONFIG=${path("root", ".kube")}`, path("root", ".kube")],
    ["a checkout at the root", `"${path("work", "main")}"`, path("work", "main")],
    ["a registry's host", `npm install --registry ${url("registry.example.com")}`, site("registry.example.com")],
    ["a proxy for Go modules", `GOPROXY=${url("goproxy.example.com")}`, site("goproxy.example.com")],
    ["a lockfile's download address", `"resolved": "${url("example.com")}"`, `"resolved": "${url("example.com")}"`],
  ])("finds %s", (_sentence, line, found) => {
    expect(findTraces(new Map([["a.txt", `first\n${line}`]]))).toMatchObject([{ path: "a.txt", line: 2, found }]);
  });

  test.each([
    ["a directory of that name further down", "providers/work/main.ts and ./home/x and ~/work/x"],
    ["a module path", 'import "k8s.io/kubernetes/cmd/home/x"'],
    ["a page on a site", "https://example.com/home/index.html"],
    ["Kubernetes' image registry", "https://registry.k8s.io/pause:3.10"],
    ["a workspace in the lockfile", '"resolved": "proto"'],
  ])("leaves %s alone", (_sentence, line) => {
    expect(findTraces(new Map([["a.txt", line]]))).toEqual([]);
  });
});
