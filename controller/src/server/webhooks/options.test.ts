import { describe, expect, test } from "vitest";
import { isWebhookEnabled, webhookProblems } from "./options.ts";

const NAME = "persistent-volume-label";
const options = {
  webhooks: [NAME],
  webhookSecurePort: 10_260,
  webhookBindAddress: "0.0.0.0",
  webhookTlsCertFile: "",
  webhookTlsPrivateKeyFile: "",
  securePort: 10_258,
};

describe("isWebhookEnabled()", () => {
  test.each([
    { webhooks: [], port: 10_260, enabled: false },
    { webhooks: [""], port: 10_260, enabled: false },
    { webhooks: [NAME], port: 10_260, enabled: true },
    { webhooks: ["*"], port: 10_260, enabled: true },
    { webhooks: [`-${NAME}`, "*"], port: 10_260, enabled: false },
    { webhooks: ["*", `-${NAME}`], port: 10_260, enabled: false },
    { webhooks: [NAME], port: 0, enabled: false },
  ])("returns $enabled for $webhooks at port $port", ({ webhooks, port, enabled }) => {
    expect(isWebhookEnabled(NAME, { webhooks, webhookSecurePort: port })).toBe(enabled);
  });
});

describe("webhookProblems()", () => {
  test("finds no problem in valid options", () => {
    expect(webhookProblems(options)).toEqual([]);
  });

  test.each([
    {
      parts: { webhooks: ["-pv", NAME] },
      problems: [`--webhooks: unknown webhook "pv"; available: ${NAME}`],
    },
    {
      parts: { webhookBindAddress: "localhost" },
      problems: ['--webhook-bind-address: "localhost" is not an IP address; write it like 0.0.0.0 or ::'],
    },
    {
      parts: { webhookSecurePort: 10_258 },
      problems: ["--webhook-secure-port: 10258 is also --secure-port; use another port"],
    },
    {
      parts: { webhookTlsCertFile: "a.crt" },
      problems: ["--webhook-tls-private-key-file: required together with --webhook-tls-cert-file"],
    },
    {
      parts: { webhookTlsPrivateKeyFile: "a.key" },
      problems: ["--webhook-tls-cert-file: required together with --webhook-tls-private-key-file"],
    },
  ])("says $problems", ({ parts, problems }) => {
    expect(webhookProblems({ ...options, ...parts }).map(({ where, what }) => `${where}: ${what}`)).toEqual(problems);
  });

  test("finds none in settings of a server that is not to run", () => {
    expect(webhookProblems({ ...options, webhooks: [], webhookBindAddress: "x", webhookTlsCertFile: "y" })).toEqual([]);
  });
});
