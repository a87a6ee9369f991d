import { describe, expect, test } from "vitest";
import { tcp, udp, wanted } from "../test/desired.ts";
import { planListeners } from "./listeners.ts";
import type { SeenListener } from "./reader.ts";
import { toNlbSpec } from "./desired/nlb-spec.ts";

type Details = SeenListener["details"];

const arnOf = (name: string): string => `arn:${name}`;
const listenersOf = (...args: Parameters<typeof wanted>) => toNlbSpec(wanted(...args)).listeners;
const [tcp80] = listenersOf();
const groupArn = arnOf(tcp80?.group.name ?? "");

const seen = (port: number, details: Details) => ({ port, details });
const forward = (arn: string): Details => ({ DefaultActions: [{ Type: "forward", TargetGroupArn: arn }] });
const asWanted = seen(80, { Protocol: "TCP", ...forward(groupArn) });

const plan = (nlb: ReturnType<typeof listenersOf>, present: readonly ReturnType<typeof seen>[]) => {
  const { deletes, changes, creates, keeps } = planListeners(nlb, present, arnOf);
  return {
    deletes: deletes.map(({ port }) => port),
    changes: changes.map(({ wanted: { port } }) => port),
    creates: creates.map(({ port }) => port),
    keeps: keeps.map(({ wanted: { port } }) => port),
  };
};

describe("planListeners()", () => {
  const tls = { "ssl-cert": "arn:cert", "ssl-negotiation-policy": "P" };
  const tlsDetails: Details = {
    Protocol: "TLS",
    SslPolicy: "P",
    Certificates: [{ CertificateArn: "arn:cert" }],
    ...forward(groupArn),
  };
  test.each([
    ["creates what is missing", listenersOf(), [], { deletes: [], changes: [], creates: [80], keeps: [] }],
    ["leaves what is as wanted", listenersOf(), [asWanted], { deletes: [], changes: [], creates: [], keeps: [80] }],
    [
      "deletes what is wanted no longer",
      listenersOf(),
      [asWanted, seen(81, { Protocol: "TCP" })],
      { deletes: [81], changes: [], creates: [], keeps: [80] },
    ],
    [
      "leads to another target group",
      listenersOf(),
      [seen(80, { Protocol: "TCP", ...forward("arn:other") })],
      { deletes: [], changes: [80], creates: [], keeps: [80] },
    ],
    [
      "makes UDP of TCP by another listener",
      listenersOf({}, { ports: [udp(80)] }),
      [asWanted],
      { deletes: [80], changes: [], creates: [80], keeps: [] },
    ],
    ["makes TLS of TCP", listenersOf(tls), [asWanted], { deletes: [], changes: [80], creates: [], keeps: [80] }],
    [
      "leaves TLS as it is",
      listenersOf(tls),
      [seen(80, tlsDetails)],
      { deletes: [], changes: [], creates: [], keeps: [80] },
    ],
    [
      "renews a certificate",
      listenersOf(tls),
      [seen(80, { ...tlsDetails, Certificates: [{ CertificateArn: "arn:old" }] })],
      { deletes: [], changes: [80], creates: [], keeps: [80] },
    ],
    [
      "takes one of two on a port, which AWS never has",
      listenersOf(),
      [asWanted, seen(80, { Protocol: "TCP", ...forward("arn:other") })],
      { deletes: [80], changes: [], creates: [], keeps: [80] },
    ],
    [
      "does each where it is due",
      listenersOf({}, { ports: [tcp(80), tcp(82), udp(53)] }),
      [asWanted, seen(81, { Protocol: "UDP" }), seen(53, { Protocol: "TCP" })],
      { deletes: [81, 53], changes: [], creates: [53, 82], keeps: [80] },
    ],
  ])("%s", (_what, nlb, present, expected) => {
    expect(plan(nlb, present)).toEqual(expected);
  });
});
