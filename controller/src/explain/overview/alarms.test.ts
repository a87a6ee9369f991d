import type { ObjectRow } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { type AlarmFacts, alarmsOf } from "./alarms.ts";

const NOTHING: AlarmFacts = { providers: [], brakes: new Map(), controllers: [] };

const provider = (name: string, state: ObjectRow["state"], reason?: string): ObjectRow => ({
  object: `provider/${name}`,
  state,
  ...(reason === undefined ? {} : { reason }),
  summary: `Provider ${name} says so.`,
  provider: name,
});

const lines = (facts: Partial<AlarmFacts>): readonly string[] =>
  alarmsOf({ ...NOTHING, ...facts }).map(({ reason, object = "", message }) => `${reason} ${object} ${message}`);

describe("alarmsOf()", () => {
  test("are none while all is well", () => {
    expect(
      lines({ providers: [provider("east", "ok")], brakes: new Map([["east", { holds: false, gone: 2 }]]) }),
    ).toEqual([]);
  });

  test("name the brake first, then who must do something, then what passes, then what is broken here", () => {
    const brakes = new Map([["east", { holds: true, gone: 9, message: "Nine of ten are gone." }]]);
    const providers = [
      provider("east", "blocked", "DeletionBrake"),
      provider("west", "waiting", "Throttled"),
      provider("south", "blocked", "NoCredentials"),
    ];
    const controllers = [
      { name: "cloud-node-controller", state: "running" },
      {
        name: "service-lb-controller",
        state: "restarting",
        restartingAt: "2026-01-01T00:00:00.000Z",
        lastFault: { at: "2026-01-01T00:00:00.000Z", message: "planted" },
      },
    ] as const;
    expect(lines({ brakes, providers, controllers })).toEqual([
      "DeletionBrake provider/east Nine of ten are gone.",
      "NoCredentials provider/south Provider south says so.",
      "Throttled provider/west Provider west says so.",
      "ControllerRestarting  service-lb-controller broke by a fault of this program: planted; a fresh one starts at 2026-01-01T00:00:00.000Z.",
    ]);
  });

  test("each says what to do and where to read on", () => {
    expect(alarmsOf({ ...NOTHING, providers: [provider("south", "blocked", "NoCredentials")] })).toEqual([
      {
        reason: "NoCredentials",
        object: "provider/south",
        message: "Provider south says so.",
        remedy: expect.any(String),
        see: expect.stringMatching(/^docs\//),
      },
    ]);
  });
});
