import { describe, expect, test } from "vitest";
import { type Attributes, type PolicyRule, createAccess, denied } from "./access.ts";

const wants = (change: Partial<Extract<Attributes, { kind: "resource" }>>): Attributes => ({
  kind: "resource",
  verb: "get",
  group: "",
  resource: "nodes",
  subresource: "",
  namespace: "",
  name: "n",
  ...change,
});
const rule: PolicyRule = { apiGroups: [""], resources: ["nodes", "nodes/status"], verbs: ["get", "patch"] };
const users = [
  { token: "all", name: "all", groups: [] },
  { token: "some", name: "some", groups: [], rules: [rule] },
  { token: "named", name: "named", groups: [], rules: [{ ...rule, resourceNames: ["n"], namespaces: [""] }] },
  { token: "paths", name: "paths", groups: [], rules: [{ verbs: ["get"], nonResourceUrls: ["/metrics", "/debug/*"] }] },
];

describe("createAccess()", () => {
  const access = createAccess({ users, anonymous: true });
  const may = (token: string, attributes: Attributes): boolean => {
    const user = access.userOf(token);
    return user !== undefined && access.allows(user, attributes);
  };

  test.each<[string, Attributes, boolean]>([
    ["all", wants({ verb: "delete" }), true],
    ["some", wants({}), true],
    ["some", wants({ subresource: "status", verb: "patch" }), true],
    ["some", wants({ subresource: "proxy" }), false],
    ["some", wants({ verb: "delete" }), false],
    ["some", wants({ group: "apps" }), false],
    ["some", wants({ resource: "selfsubjectaccessreviews", verb: "create" }), true],
    ["some", { kind: "path", verb: "get", path: "/healthz" }, true],
    ["some", { kind: "path", verb: "get", path: "/metrics" }, false],
    ["named", wants({}), true],
    ["named", wants({ name: "m" }), false],
    ["named", wants({ namespace: "x" }), false],
    ["paths", { kind: "path", verb: "get", path: "/metrics" }, true],
    ["paths", { kind: "path", verb: "get", path: "/debug/pprof" }, true],
    ["unknown", wants({}), false],
  ])("%s asks %j: %s", (token, attributes, expected) => {
    expect(may(token, attributes)).toBe(expected);
  });

  test("takes a request without token for the administrator's, by default not to", () => {
    expect(access.authenticate(undefined).groups).toContain("system:masters");
    const strict = createAccess({ users, anonymous: false });
    expect(() => strict.authenticate(undefined)).toThrow(expect.objectContaining({ code: 401 }));
  });

  test("knows the user of a token and refuses another", () => {
    expect(access.authenticate("Bearer some")).toMatchObject({ name: "some", groups: ["system:authenticated"] });
    expect(() => access.authenticate("Bearer wrong")).toThrow(expect.objectContaining({ code: 401 }));
  });
});

test.each<[Attributes, string]>([
  [wants({}), 'nodes "n" is forbidden: User "u" cannot get resource "nodes" in API group "" at the cluster scope'],
  [
    wants({ group: "g", resource: "r", subresource: "s", namespace: "x", name: "" }),
    'r.g is forbidden: User "u" cannot get resource "r/s" in API group "g" in the namespace "x"',
  ],
  [{ kind: "path", verb: "get", path: "/x" }, 'forbidden: User "u" cannot get path "/x"'],
])("denied() words %j as kube-apiserver does", (attributes, message) => {
  expect(denied({ name: "u", groups: [] }, attributes).message).toBe(message);
});
