import { describe, expect, test } from "vitest";
import { Playback, withoutRepetitions } from "./playback.ts";
import { type Exchange, formatRecording, parseRecording, type Recording, START } from "./recording.ts";

const get = (path: string, state: string): Exchange => ({ ask: `GET ${path}`, status: 200, answer: { state } });
const put = (path: string, value: number): Exchange => ({ ask: `PUT ${path}`, sent: { value }, status: 202 });

const recording: Recording = {
  scenario: "s",
  services: { nova: "34.0.0" },
  facts: { places: { router: "1" } },
  steps: [
    { step: START, exchanges: [get("/check", "fine")] },
    {
      step: "changed",
      exchanges: [
        get("/a", "ACTIVE"),
        get("/b", "ACTIVE"),
        put("/a", 1),
        get("/a", "PENDING"),
        get("/a", "ACTIVE"),
        put("/a", 2),
      ],
    },
    { step: "listed", exchanges: [{ ...get("/servers", "ACTIVE"), microversion: "compute 2.69" }] },
  ],
};

/** `PUT /a 1` */
const asked = (text: string): Exchange => {
  const [method, path = "", value] = text.split(" ");
  return method === "PUT" ? put(path, Number(value)) : get(path, "");
};

function play(...texts: readonly string[]) {
  const playback = new Playback(recording);
  playback.begin("changed");
  const states = texts.map((text) => {
    const { status, answer } = playback.answer(asked(text)) ?? { status: 500 };
    return typeof answer === "object" && answer !== null ? Reflect.get(answer, "state") : status;
  });
  return { playback, states };
}

const whole = ["GET /b", "GET /a", "PUT /a 1", "GET /a", "GET /a", "PUT /a 2"];

describe("Playback", () => {
  test("answers as recorded, reads in any order", () => {
    const { playback, states } = play(...whole);
    expect(states).toEqual(["ACTIVE", "ACTIVE", 202, "PENDING", "ACTIVE", 202]);
    playback.begin("listed");
    playback.answer({ ask: "GET /servers", microversion: "compute 2.69" });
    playback.end();
    expect(playback.problems).toEqual([]);
  });

  test("lets states be looked at more often and less often than when they were recorded", () => {
    expect(play("GET /a", "GET /b", "PUT /a 1", "GET /a", "GET /a", "GET /a", "GET /a").states.slice(3)).toEqual([
      "PENDING",
      "ACTIVE",
      "ACTIVE",
      "ACTIVE",
    ]);
    const { playback, states } = play("GET /a", "GET /b", "PUT /a 1", "GET /a", "PUT /a 2");
    expect([states.at(-1), playback.problems]).toEqual([202, []]);
  });

  test("answers what belongs to no step at any time", () => {
    const { playback, states } = play("GET /check", "GET /a", "GET /check");
    expect([states, playback.problems]).toEqual([["fine", "ACTIVE", "fine"], []]);
  });

  test.each([
    ["another path", ["GET /c"], "GET /c"],
    ["another body", ["GET /a", "GET /b", "PUT /a 7"], `PUT /a {"value":7}`],
    ["writes in another order", ["GET /a", "GET /b", "PUT /a 2"], `PUT /a {"value":2}`],
    ["one write more", [...whole, "PUT /a 2"], `PUT /a {"value":2}`],
    ["a read that was not made after this write", [...whole.slice(0, 3), "GET /b"], "GET /b"],
  ])("names %s", (_what, texts, name) => {
    const { playback, states } = play(...texts);
    expect(states.at(-1)).toBe(500);
    expect(playback.problems).toEqual([
      expect.stringContaining(`the provider asked what was not recorded:\n  ${name}`),
    ]);
    expect(playback.problems[0]).toContain("step “changed”");
    expect(playback.problems[0]).toContain("npm run test:openstack");
  });

  test("names another microversion", () => {
    const { playback } = play(...whole);
    playback.begin("listed");
    expect(playback.answer({ ask: "GET /servers", microversion: "compute 2.1" })).toBeUndefined();
    expect(playback.problems[0]).toContain("GET /servers compute 2.1");
  });

  test.each([
    [
      "a read that is not made any more",
      ["GET /a", "PUT /a 1", "GET /a", "PUT /a 2"],
      "GET /b was recorded and not asked",
    ],
    ["a write that is not made any more", whole.slice(0, -1), "PUT /a was recorded and not asked"],
  ])("names %s", (_what, texts, problem) => {
    const { playback } = play(...texts);
    playback.begin("listed");
    expect(playback.problems).toEqual([expect.stringContaining(problem)]);
  });

  test("names steps that are others than recorded", () => {
    const { playback } = play(...whole);
    playback.begin("renamed");
    expect(playback.problems).toEqual([
      expect.stringContaining("“listed” was recorded where the scenario now has “renamed”"),
    ]);
    const short = play(...whole).playback;
    short.end();
    expect(short.problems).toEqual([expect.stringContaining("step “listed” was recorded and did not take place")]);
  });
});

describe("withoutRepetitions()", () => {
  test("keeps one look at each state", () => {
    const looks = [
      get("/a", "PENDING"),
      get("/a", "PENDING"),
      get("/b", "x"),
      get("/a", "ACTIVE"),
      put("/a", 1),
      get("/a", "ACTIVE"),
    ];
    const { exchanges } = withoutRepetitions({ step: "s", exchanges: looks });
    expect(exchanges).toEqual([looks[0], looks[2], looks[3], looks[4], looks[5]]);
  });
});

describe("parseRecording()", () => {
  test("reads what formatRecording() writes, a line for each exchange", () => {
    const text = formatRecording(recording);
    expect(parseRecording(text)).toEqual(recording);
    expect(text.split("\n")).toHaveLength(1 + 3 + 8 + 1);
  });

  test.each([
    ["no scenario", "{}\n", "names no scenario"],
    [
      "an exchange without a step",
      `{"scenario":"s","services":{},"facts":{}}\n{"ask":"GET /","status":200}\n`,
      "before its first step",
    ],
    [
      "an exchange without its request",
      `{"scenario":"s","services":{},"facts":{}}\n{"step":"a"}\n{"status":200}\n`,
      "needs `ask`",
    ],
  ])("refuses %s", (_what, text, problem) => {
    expect(() => parseRecording(text)).toThrow(problem);
  });
});
