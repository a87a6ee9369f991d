import { describe, expect, test } from "vitest";
import { redact, secretsIn } from "./redact.ts";

const JWT = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl";
const PEM = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA\nhunter2\n-----END EC PRIVATE KEY-----";

describe("redact()", () => {
  test.each([
    ["a private key", PEM, "private key"],
    ["one in a text of JSON", JSON.stringify({ pem: PEM }), "private key"],
    ["one that is cut off", PEM.slice(0, 50), "private key"],
    ["an authorization header", "Authorization: Basic dXNlcjpodW50ZXIy", "authorization header"],
    ["one in JSON", '{"authorization":"Basic dXNlcjpodW50ZXIy"}', "authorization header"],
    ["one of several values", '{"headers":{"Authorization":["Basic dXNlcjpodW50ZXIy"]}}', "authorization header"],
    ["a bearer token", "sent with bearer hunter2hunter2", "bearer token"],
    ["a service account's token", `got ${JWT} here`, "JSON web token"],
    ["a key of AWS", "AKIAIOSFODNN7EXAMPLE", "AWS key"],
    ["a key of Google", `AIza${"x".repeat(35)}`, "Google key"],
    ["a token of GitHub", `ghp_${"a1".repeat(18)}`, "GitHub token"],
    ["a token of Keystone", `gAAAA${"Bc-".repeat(30)}`, "Keystone token"],
    ["a bootstrap token", "joined with abcdef.0123456789abcdef", "bootstrap token"],
    ["a password in an address", "https://admin:hunter2@cloud.example.com/v2", "credentials in an address"],
    ["a password in JSON", '{"password": "hunter2"}', "secret by its name"],
    ["one that is escaped in another text", JSON.stringify({ line: '{"password":"hunter2"}' }), "secret by its name"],
    ["one in single quotes", "password: 'hunter 2'", "secret by its name"],
    ["a token of a kubeconfig", "users:\n- name: a\n  user:\n    token: hunter2", "secret by its name"],
    ["a key of a kubeconfig", "    client-key-data: aHVudGVyMg==", "secret by its name"],
    ["a flag", "--cloud-api-key=hunter2 --v=4", "secret by its name"],
    ["a variable", "AWS_SECRET_ACCESS_KEY=hunter2/abc", "secret by its name"],
    ["a name in camel case", '{"applicationCredentialSecret":"hunter2"}', "secret by its name"],
    ["a token in camel case", '{"SessionToken":"hunter2","apiToken":"hunter3"}', "secret by its name"],
    ["a key of a storage account", "AccountName=a;AccountKey=hunter2==;", "secret by its name"],
    ["a block of YAML", "a:\n  password: |-\n    hunter2\n    hunter3\n  name: a\n", "secret by its name"],
    ["an argument of its own", "provider --password hunter2 --v=4", "secret by its name"],
    ["one in a list", '["--token","hunter2","--v=4"]', "secret by its name"],
    ["a signed address", "https://blob.example.com/a?sv=1&sig=hunter2", "secret by its name"],
    ["a short name", "user=a pass=hunter2 pwd='hunter3'", "secret by its name"],
    ["a token in an address", "https://hunter2@git.example.com/a", "credentials in an address"],
    ["a passphrase", '{"keyPassphrase":"hunter2"}', "secret by its name"],
    ["a key of JSON that has one in it", '{"https://u:hunter2@h/":1}', "credentials in an address"],
    ["a cookie", "Cookie: session=hunter2", "secret by its name"],
  ])("takes out %s", (_, text, kind) => {
    const { text: left, found } = redact(text);
    expect(found).toHaveProperty(kind);
    expect(left).not.toMatch(/hunter|dXNlcjpo|AKIA|AIzax|ghp_|gAAAA|eyJ|abcdef\.|MHcCAQ|aHVudGVy/);
    expect(secretsIn(left)).toEqual([]);
    expect(redact(left)).toEqual({ text: left, found: {} });
  });

  test.each([
    ["--authentication-token-webhook-cache-ttl=10s"],
    ["--token-file=/var/run/secrets/token"],
    ['{"pageToken":"abc","resumeToken":"r1","nextPageToken":"n1"}'],
    ['{"passwordFile":"/etc/x"}'],
    ["automountServiceAccountToken: true"],
    ["--token --v=4, 3 passed, bypass=1, design: x, ssh@host"],
    ["script: |\n  echo"],
    ['{"conditions":[{"type":"CredentialsValid","reason":"CloudAnswered"}]}'],
    ['cloudwire_provider_calls_total{provider="acme"} 4'],
    ["https://10.0.0.1:6443/api"],
    ["-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"],
    ["sha256:0123456789abcdef0123456789abcdef"],
  ])("leaves %s", (text) => {
    expect(redact(text)).toEqual({ text, found: {} });
  });

  describe("of JSON", () => {
    const secrets = { a: { password: 'with "quotes" and \\', token: JWT, pass: 1234 }, b: [PEM], c: "https://u:p@h/" };
    const left = {
      a: { password: "[redacted]", token: "[redacted]", pass: "[redacted]" },
      b: ["[redacted]"],
      c: "https://[redacted]@h/",
    };

    test.each([
      ["on one line", (value: unknown) => JSON.stringify(value)],
      ["with lines set in", (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`],
      ["line after line", (value: unknown) => `${JSON.stringify(value)}\n${JSON.stringify({ ok: 1 })}\n`],
      ["among lines of other text", (value: unknown) => `starting\n${JSON.stringify(value)}\nended\n`],
      ["in a text of other JSON", (value: unknown) => JSON.stringify({ body: JSON.stringify(value) })],
    ])("%s: leaves JSON, written as it was", (_, write) => {
      expect(redact(write(secrets)).text).toBe(write(left));
    });

    test.each([
      ["a text that ends in the name of a secret", { message: "enter password:", next: "shown", last: "token=" }],
      ["a secret that is empty, or no text", { password: "", token: null, secret: true, credentials: { user: "a" } }],
    ])("leaves %s", (_, value) => {
      expect(redact(JSON.stringify(value))).toEqual({ text: JSON.stringify(value), found: {} });
    });

    test("leaves numbers, and spaces, that JSON.stringify() would write otherwise", () => {
      const text = '{ "id": 12345678901234567890, "n": 1.0 }';
      expect(redact(text)).toEqual({ text, found: {} });
    });

    test("redacts what is nested too deeply to check", () => {
      const { text, found } = redact(`${"[".repeat(5000)}"a"${"]".repeat(5000)}`);
      expect(found).toEqual({ "nested too deeply to check": 1 });
      expect(text).toBe(`${"[".repeat(64)}"[redacted]"${"]".repeat(64)}`);
    });
  });
});
