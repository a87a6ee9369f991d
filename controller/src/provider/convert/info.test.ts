import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  GetProviderInfoResponse,
  IpMode,
  LockScope,
  Protocol,
  QuotaClass,
} from "@cloudwire/proto/cloudprovider/v1/identity";
import { describe, expect, test } from "vitest";
import { providerInfo } from "../../../test/support/provider/scripted-provider.ts";
import { problemsOf, providerInfoFromProto } from "./info.ts";

describe("providerInfoFromProto()", () => {
  test("fills the contract's defaults where a provider says nothing", () => {
    const wire = GetProviderInfoResponse.fromPartial({
      capabilities: { instances: {}, loadBalancers: {}, routes: {} },
    });
    expect(providerInfoFromProto(wire)).toMatchObject({
      capabilities: {
        instances: {
          maxBatchSize: 1,
          list: undefined,
          watch: undefined,
          existenceConsistencyDelayMs: 60_000,
          lookupByName: false,
        },
        loadBalancers: {
          protocols: ["TCP"],
          ipFamilies: ["IPv4"],
          maxPorts: undefined,
          maxConcurrentChanges: 10,
          lockScope: "service",
        },
        routes: { maxBatchSize: 1, maxPageSize: 500 },
        volumes: undefined,
      },
      limits: {
        maxConcurrentCalls: 1,
        maxInlineNodes: 15_000,
        softCallDurationMs: 10_000,
        minStatusIntervalMs: 10_000,
        minResyncIntervalMs: 60_000,
        callRates: [],
      },
    });
  });

  const seconds = (value: number) => ({ seconds: BigInt(value), nanos: 0 });
  test.each([
    { asked: -5, delayMs: 0, softMs: 0, intervalMs: 100 },
    { asked: 0, delayMs: 0, softMs: 0, intervalMs: 100 },
    { asked: 20, delayMs: 20_000, softMs: 20_000, intervalMs: 20_000 },
    { asked: 1e12, delayMs: 86_400_000, softMs: 30_000, intervalMs: 3_600_000 },
  ])(
    "keeps intervals of $asked s within the contract's bounds (case A-3)",
    ({ asked, delayMs, softMs, intervalMs }) => {
      const wire = GetProviderInfoResponse.fromPartial({
        capabilities: {
          instances: { existenceConsistencyDelay: seconds(asked), watch: { tokenRetention: seconds(asked) } },
        },
        limits: {
          softCallDuration: seconds(asked),
          minStatusInterval: seconds(asked),
          minResyncInterval: seconds(asked),
        },
      });
      expect(providerInfoFromProto(wire)).toMatchObject({
        capabilities: { instances: { existenceConsistencyDelayMs: delayMs, watch: { tokenRetentionMs: delayMs } } },
        limits: { softCallDurationMs: softMs, minStatusIntervalMs: intervalMs, minResyncIntervalMs: intervalMs },
      });
    },
  );

  test.each([
    [
      "with the burst of a second, at least 1, where none is given",
      [
        { cloudCallsPerSecond: 2.5 },
        { classes: [QuotaClass.ROUTES, QuotaClass.VOLUMES], cloudCallsPerSecond: 0.1 },
        { classes: [QuotaClass.INSTANCES], cloudCallsPerSecond: 1, burst: 7 },
      ],
      [
        { classes: [], cloudCallsPerSecond: 2.5, burst: 3 },
        { classes: ["routes", "volumes"], cloudCallsPerSecond: 0.1, burst: 1 },
        { classes: ["instances"], cloudCallsPerSecond: 1, burst: 7 },
      ],
    ],
    [
      "nothing for classes newer than this program",
      [
        { classes: [QuotaClass.UNRECOGNIZED], cloudCallsPerSecond: 1 },
        { classes: [QuotaClass.UNRECOGNIZED, QuotaClass.ROUTES], cloudCallsPerSecond: 1 },
      ],
      [{ classes: ["routes"], cloudCallsPerSecond: 1, burst: 1 }],
    ],
    ["nothing for rates that are none", [0, -1, Number.NaN].map((rate) => ({ cloudCallsPerSecond: rate })), []],
  ])("reads call rates: %s", (_, callRates, read) => {
    const wire = GetProviderInfoResponse.fromPartial({ limits: { callRates } });
    expect(providerInfoFromProto(wire).limits.callRates).toEqual(read);
  });

  test("keeps claims within what the contract allows", () => {
    const wire = GetProviderInfoResponse.fromPartial({
      capabilities: { instances: { maxBatchSize: 50_000, list: { maxPageSize: 50_000 } } },
      limits: { softCallDuration: { seconds: 600n }, maxConcurrentCalls: 32, maxReceiveBytes: 8_000_000n },
    });
    expect(providerInfoFromProto(wire)).toMatchObject({
      capabilities: { instances: { maxBatchSize: 1000, list: { maxPageSize: 1000 } } },
      limits: { softCallDurationMs: 30_000, maxConcurrentCalls: 32, maxReceiveBytes: 8_000_000 },
    });
  });

  test.each([
    [IpMode.VIP, ["VIP"]],
    [IpMode.PROXY, ["Proxy"]],
    [IpMode.UNSPECIFIED, []],
    [IpMode.UNRECOGNIZED, []],
  ])("reads IP mode %i as %j", (mode, ipModes) => {
    const wire = GetProviderInfoResponse.fromPartial({ capabilities: { loadBalancers: { ipModes: [mode] } } });
    expect(providerInfoFromProto(wire).capabilities.loadBalancers?.ipModes).toEqual(ipModes);
  });

  test.each([
    [LockScope.UNSPECIFIED, "service"],
    [LockScope.SERVICE, "service"],
    [LockScope.LOCK_KEY, "lockKey"],
    [LockScope.PROVIDER, "provider"],
  ])("reads lock scope %i as %s", (scope, lockScope) => {
    const wire = GetProviderInfoResponse.fromPartial({ capabilities: { loadBalancers: { lockScope: scope } } });
    expect(providerInfoFromProto(wire).capabilities.loadBalancers?.lockScope).toBe(lockScope);
  });

  test("drops what is newer than this program, but takes a newer lock scope for the narrowest", () => {
    const wire = GetProviderInfoResponse.fromPartial({
      capabilities: {
        loadBalancers: {
          protocols: [Protocol.UDP, Protocol.UNRECOGNIZED],
          ipFamilies: [IpFamily.IPV6, IpFamily.UNRECOGNIZED],
          lockScope: LockScope.UNRECOGNIZED,
        },
      },
    });
    expect(providerInfoFromProto(wire).capabilities.loadBalancers).toMatchObject({
      protocols: ["UDP"],
      ipFamilies: ["IPv6"],
      lockScope: "provider",
    });
  });
});

describe("problemsOf()", () => {
  test("finds none in a healthy handshake", () => {
    expect(problemsOf(providerInfo())).toEqual([]);
  });

  test("finds that there is no prefix", () => {
    expect(problemsOf({ ...providerInfo(), providerIdPrefixes: [] })).toEqual(["provider_id_prefixes is empty"]);
  });

  test("finds all there are at once", () => {
    const wire = GetProviderInfoResponse.fromPartial({ providerIdPrefixes: ["acme", "://"], annotationPrefixes: [""] });
    expect(problemsOf(wire)).toEqual([
      "name is empty",
      "boot_id is empty",
      "annotation_prefixes has an empty entry, which would send every annotation",
      "capabilities is absent",
      'provider ID prefix "acme" does not end in "://" after a scheme',
      'provider ID prefix "://" does not end in "://" after a scheme',
    ]);
  });
});
