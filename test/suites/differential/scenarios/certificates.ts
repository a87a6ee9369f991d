import { users } from "../clusters.ts";
import { type Scenario, merge, table } from "../scenario.ts";

const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** A request for system:node:node-a, signed with a key that was thrown away. */
const request = `-----BEGIN CERTIFICATE REQUEST-----
MIIBGTCBwAIBADA0MRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxGzAZBgNVBAMMEnN5
c3RlbTpub2RlOm5vZGUtYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNV87yt0
CXT7cXxbbNmbFpBFMxbMREQ9tM6txTJcqdNOos7v7G9xLvw4HRgDAlLGFa+muysJ
dPZA0ObHQNoM5yWgKjAoBgkqhkiG9w0BCQ4xGzAZMBcGA1UdEQQQMA6CBm5vZGUt
YYcECgAAATAKBggqhkjOPQQDAgNIADBFAiBmboM4nZmcpqy/DZ47v4vrFQvZwsGk
eWD9GCQlUwMOpAIhALEd4I6Rju1QWT2D2ZvsMUqsnroJlNEMn5QQ/57usuGj
-----END CERTIFICATE REQUEST-----
`;
const spec = {
  request: Buffer.from(request).toString("base64"),
  signerName: "kubernetes.io/kubelet-serving",
  usages: ["digital signature", "server auth"],
};
const condition = (type: string, status = "True") => ({ type, status, reason: "R", message: "m" });

export const certificateScenarios: readonly Scenario[] = [
  {
    name: "certificate signing request: request, approve, issue",
    run: async ({ call }) => {
      const csr = `${path}/csr`;
      const write = (subresource: string, status: object) =>
        call("PATCH", `${csr}${subresource}`, { contentType: merge, body: { status } });
      await call("POST", path, {
        token: users.admin.token,
        body: { metadata: { name: "csr" }, spec: { ...spec, username: "stranger", expirationSeconds: 3600 } },
      });
      await call("GET", csr, { accept: table });
      await write("", { conditions: [condition("Approved")] });
      await write("/status", { conditions: [condition("Approved")] });
      await write("/approval", { conditions: [condition("Approved", "False")] });
      await write("/approval", { conditions: [condition("Approved"), condition("Denied")] });
      await write("/approval", { conditions: [condition("Approved"), condition("Approved")] });
      await write("/approval", { conditions: [{ type: "" }] });
      await write("/approval", { conditions: [condition("Approved")], certificate: "AAAA" });
      await write("/approval", { conditions: [] });
      await call("GET", csr, { accept: table });
      await call("PATCH", csr, {
        contentType: merge,
        body: { spec: { signerName: "a.b/c" }, metadata: { labels: { a: "b" } } },
      });
      await call("GET", `${path}?fieldSelector=spec.signerName%3Dkubernetes.io/kubelet-serving`);
      await call("GET", `${path}?fieldSelector=spec.x%3Dy`);
      await call("DELETE", csr);
    },
  },
  {
    name: "certificate signing request: refused",
    run: async ({ call }) => {
      const create = (change: object) =>
        call("POST", path, { body: { metadata: { name: "bad-csr" }, spec: { ...spec, ...change } } });
      await create({ request: Buffer.from("x").toString("base64") });
      await create({ usages: [] });
      await create({ usages: ["server auth", "server auth"] });
      await create({ usages: ["flying"] });
      await create({ signerName: "" });
      await create({ signerName: "plain" });
      await create({ signerName: "one/two" });
      await create({ signerName: "a_.b/two" });
      await create({ signerName: "a.b/Two" });
      await create({ signerName: "/" });
      await create({ expirationSeconds: 60 });
    },
  },
];
