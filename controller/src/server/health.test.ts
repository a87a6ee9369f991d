import { describe, expect, test } from "vitest";
import { report } from "./health.ts";

const good = { name: "ping", problem: () => undefined };
const bad = { name: "provider", problem: () => "acme does not answer" };

describe("report()", () => {
  test("passes when no check fails", () => {
    expect(report("readyz", [good], [])).toEqual({ healthy: true, text: "[+]ping ok\nreadyz check passed\n" });
  });

  test("fails and says why when one check fails", () => {
    expect(report("readyz", [good, bad], [])).toEqual({
      healthy: false,
      text: "[+]ping ok\n[-]provider failed: acme does not answer\nreadyz check failed\n",
    });
  });

  test("passes with a warning that an operator should read", () => {
    const warned = { ...good, name: "provider-west", warning: () => "its socket is missing" };
    expect(report("readyz", [good, warned], [])).toEqual({
      healthy: true,
      text: "[+]ping ok\n[+]provider-west ok, but: its socket is missing\nreadyz check passed\n",
    });
  });

  test("says no reason where everybody may read it", () => {
    const warned = { ...good, warning: () => "its socket is missing" };
    expect(report("readyz", [warned, bad], [], "withheld").text).toBe(
      "[+]ping ok\n[-]provider failed: reason withheld\nreadyz check failed\n",
    );
  });

  test("leaves excluded checks out and warns of names it does not know", () => {
    expect(report("livez", [good, bad], ["provider", "moon"])).toEqual({
      healthy: true,
      text: "[+]ping ok\nwarn: no such check: moon\nlivez check passed\n",
    });
  });
});
