import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { isClaimed, methodsWhere } from "../../contract/capabilities.ts";
import { formats, ruleProblems } from "../../contract/field-rules.ts";
import { methods, methodsByName, serviceName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { client } from "../../endpoint/reach.ts";
import { fastest } from "../calls/measure.ts";
import { provocableMethods } from "../calls/provoked.ts";

const shake = async ({ caller }: CheckContext) => {
  const called = await caller.call(methods.getProviderInfo, { client });
  return { info: expectOk(called, "the handshake is not answered").response, exchange: called.exchange };
};

const base = { level: "S", profile: "core" } as const;

/** A domain with at least one dot, and a slash if a name follows. */
const qualified = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+(\/[A-Za-z0-9._-]*)?$/;

const durationMs = (duration: { readonly seconds: bigint; readonly nanos: number } | undefined): number =>
  duration === undefined ? 0 : Number(duration.seconds) * 1_000 + duration.nanos / 1e6;

/** The handshake: what the controller believes of a provider before it calls anything else. */
export const infoChecks: readonly Check[] = [
  {
    ...base,
    id: "info.fields.required",
    title: "the handshake has every required field, each within its limits",
    rules: ["INF-1"],
    why: "The controller cannot decide what to run. Usually a field that the SDK would have filled was left out by a hand-written server.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      const scope = info.scopeId === "" ? ["scope_id is missing"] : [];
      expectNone([...ruleProblems("cloudprovider.v1.GetProviderInfoResponse", info), ...scope], "fields are wrong", {
        exchange,
      });
    },
  },
  {
    ...base,
    id: "info.name.format",
    title: "the provider's name is a DNS name of at most 63 bytes",
    rules: ["INF-1"],
    why: "The name distinguishes the providers of one cluster in metrics, events and flags.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      if (!formats.DNS_NAME(info.name) || info.name.length > 63)
        fail({ message: "the name is no DNS name", expected: "like acme.example.com", got: show(info.name), exchange });
    },
  },
  {
    ...base,
    id: "info.stable",
    title: "twenty handshakes are answered alike",
    rules: ["INF-2"],
    why: "The controller reads a difference as a change of the provider. Usually the order of a map.",
    run: async (context) => {
      const { info: first } = await shake(context);
      const wanted = { ...first, diagnostics: [] };
      for (let round = 1; round < 20; round++) {
        const { info, exchange } = await shake(context);
        if (show({ ...info, diagnostics: [] }) !== show(wanted))
          fail({ message: `handshake ${round + 1} differs`, expected: show(wanted), got: show(info), exchange });
      }
    },
  },
  {
    ...base,
    id: "info.boot.constant",
    title: "boot_id stays the same for the life of the process",
    rules: ["INF-2"],
    why: "A new boot_id makes the controller start over with the provider: every answer would.",
    run: async (context) => {
      for (let round = 0; round < 3; round++) {
        const { info, exchange } = await shake(context);
        if (info.bootId !== context.info.bootId)
          fail({ message: "boot_id has changed", expected: context.info.bootId, got: info.bootId, exchange });
      }
    },
  },
  {
    ...base,
    id: "info.version.major",
    title: "contract_major is 1 and the service is among services",
    rules: ["INF-6", "TRN-10", "SHAPE-1"],
    why: "The controller would take the provider for one of another contract.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      if (info.contractMajor !== 1)
        fail({ message: "contract_major is another", expected: "1", got: String(info.contractMajor), exchange });
      if (!info.services.includes(serviceName))
        fail({ message: "the service is not listed", expected: serviceName, got: show(info.services), exchange });
    },
  },
  {
    ...base,
    id: "info.caps.truthful",
    title: "no claimed method answers UNIMPLEMENTED",
    rules: ["INF-3"],
    why: "The controller runs what is claimed, and would fail for ever. Usually a capability written by hand.",
    run: async (context) => {
      const problems: string[] = [];
      for (const name of provocableMethods(context)) {
        const called = await context.caller.call(methodsByName[name], sampleRequest(name, context));
        if (called.kind === "error" && called.error.code === 12) problems.push(`${name}: ${called.exchange.response}`);
      }
      expectNone(problems, "claimed methods are not there");
    },
  },
  {
    ...base,
    id: "info.caps.unclaimed",
    title: "every method that is not claimed answers UNIMPLEMENTED",
    rules: ["INF-3"],
    why: "A method that works without being claimed is never called, and its author does not know why.",
    run: async (context) => {
      const problems: string[] = [];
      for (const name of methodsWhere(context.info.capabilities, false)) {
        const called = await context.caller.call(methodsByName[name], sampleRequest(name, context), {
          deadlineMs: 5_000,
        });
        if (called.kind !== "error" || called.error.code !== 12) problems.push(`${name}: ${called.exchange.response}`);
      }
      expectNone(problems, "methods that are not claimed do not answer UNIMPLEMENTED");
    },
  },
  {
    ...base,
    id: "info.caps.nonempty",
    title: "at least one group is claimed",
    rules: ["INF-3"],
    why: "A provider that claims nothing is never called.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      const groups = ["instances", "load_balancers", "routes", "volumes"];
      if (!groups.some((group) => isClaimed(info.capabilities, group)))
        fail({ message: "no group is claimed", got: show(info.capabilities), exchange });
    },
  },
  {
    ...base,
    id: "info.limits.sane",
    title: "limits are within the contract's bounds, soft_call_duration at most 30 s",
    rules: ["LIM-2", "CON-1", "LB-3"],
    why: "The controller sizes its batches and its patience by them.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      const { limits } = info;
      const problems = [
        ...ruleProblems("cloudprovider.v1.Limits", limits, "limits"),
        ...ruleProblems("cloudprovider.v1.Capabilities", info.capabilities, "capabilities"),
        ...(durationMs(limits?.softCallDuration) > 30_000 ? ["limits.soft_call_duration is above 30 s"] : []),
        ...(durationMs(limits?.softCallDuration) < 0 ? ["limits.soft_call_duration is negative"] : []),
      ];
      expectNone(problems, "limits are out of bounds", { exchange });
    },
  },
  {
    ...base,
    id: "info.prefix.format",
    title: "each provider ID prefix ends in :// and none is given twice",
    rules: ["INF-4"],
    why: "A prefix decides whose Node it is: a bare word could claim another provider's.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      const prefixes = info.providerIdPrefixes;
      const problems = prefixes.flatMap((prefix, index) => [
        ...(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/$/.test(prefix) ? [] : [`${show(prefix)} is not like acme://`]),
        ...(prefixes.indexOf(prefix) < index ? [`${show(prefix)} is given twice`] : []),
      ]);
      expectNone(problems, "prefixes are wrong", { exchange });
    },
  },
  {
    ...base,
    id: "info.extras.qualified",
    title: "annotation prefixes and node keys are domain-qualified",
    rules: ["INF-4", "SHAPE-4"],
    why: "An unqualified prefix would make the controller send annotations that are none of the provider's business.",
    run: async (context) => {
      const { info, exchange } = await shake(context);
      const words = [...info.annotationPrefixes, ...info.nodeLabelKeys, ...info.nodeAnnotationKeys];
      expectNone(
        words.filter((word) => !qualified.test(word)).map((word) => `${show(word)} has no domain`),
        "words are not domain-qualified",
        { exchange },
      );
    },
  },
  {
    ...base,
    id: "info.fast",
    title: "the handshake takes less than 100 ms, 99 times of 100",
    rules: ["INF-1"],
    why: "It is answered from memory. One that asks the cloud fails exactly when the cloud is down.",
    exclusive: true,
    run: (context) => fastest(context, { calls: 50, thresholdMs: 100 }, async () => void (await shake(context))),
  },
  {
    ...base,
    id: "info.client.future",
    title: "a client of a later minor, with unknown features, is served",
    rules: ["INF-5"],
    why: "Controllers are upgraded before providers.",
    run: async ({ caller }) => {
      const future = { ...client, contractMinor: 999, features: ["time-travel"] };
      expectOk(await caller.call(methods.getProviderInfo, { client: future }), "a later client is refused");
    },
  },
  {
    ...base,
    id: "info.client.unknown-fields",
    title: "fields that the provider does not know are ignored in requests",
    rules: ["SHAPE-5", "EVO-2"],
    why: "Every later minor adds fields; a strict decoder turns an upgrade of the controller into an outage.",
    run: async (context) => {
      const known = methods.getProviderInfo.requestType.encode(
        methods.getProviderInfo.requestType.fromPartial({ client }),
      );
      // Field 15000 of type string: key 15000 << 3 | 2 as varint, length, text.
      const unknown = Buffer.from([0xc2, 0xa9, 0x07, 4, ...Buffer.from("new!")]);
      const requestBytes = Buffer.concat([known.finish(), unknown]);
      expectOk(
        await context.caller.call(methods.getProviderInfo, { client }, { requestBytes }),
        "a request with an unknown field is refused",
      );
    },
  },
  {
    ...base,
    id: "info.any-order",
    title: "the first call of a connection may be any",
    rules: ["SHAPE-2"],
    why: "Either side may restart at any time: nothing may depend on a handshake before.",
    run: async (context) => {
      for (const name of provocableMethods(context)
        .filter((method) => method !== "GetProviderInfo")
        .slice(0, 3)) {
        const connection = context.connect();
        const called = await context.caller.call(methodsByName[name], sampleRequest(name, context), { connection });
        if (called.kind === "broken" || (called.kind === "error" && called.error.code === 9))
          fail({
            message: `${name} as first call is not served`,
            got: called.exchange.response,
            exchange: called.exchange,
          });
      }
    },
  },
];
