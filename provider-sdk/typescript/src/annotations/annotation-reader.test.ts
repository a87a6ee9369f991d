import { describe, expect, test } from "vitest";
import { AnnotationReader } from "./annotation-reader.ts";

const read = (annotations: Readonly<Record<string, string>>) =>
  new AnnotationReader(annotations, { prefix: "acme/", refused: { class: "name networks by their own annotations" } });

describe("AnnotationReader", () => {
  test("reads texts, flags, lists, maps and numbers", () => {
    const reader = read({
      "acme/a": " x ",
      "acme/b": "true",
      "acme/c": "x, ,y",
      "acme/d": "k = v=w,l=",
      "acme/e": "7",
    });
    const values = [reader.string("a"), reader.flag("b", false), reader.list("c"), reader.map("d")];
    expect([...values, reader.number("e", 1, 9, 5)]).toEqual(["x", true, ["x", "y"], { k: "v=w", l: "" }, 7]);
    expect(() => reader.throwIfInvalid()).not.toThrow();
  });

  test("takes a default for what is not there, or empty", () => {
    const reader = read({ "acme/a": " " });
    const values = [reader.string("a"), reader.flag("a", true), reader.list("a"), reader.map("a")];
    expect([...values, reader.number("a", 1, 9, 5)]).toEqual([undefined, true, [], {}, 5]);
  });

  test("reports all problems together", () => {
    const reader = read({ "acme/a": "10", "acme/b": "1.5" });
    expect([reader.number("a", 1, 9, 5), reader.number("b", 1, 9, 5)]).toEqual([5, 5]);
    reader.addViolation("c", "needs a");
    const words = ["a must be a whole number, 1 to 9", "b must be a whole number, 1 to 9", "c needs a"];
    expect(() => reader.throwIfInvalid()).toThrow(
      expect.objectContaining({
        reason: "ANNOTATION_INVALID",
        message: words.map((text) => `annotation acme/${text}`).join("; "),
        fieldViolations: ["a", "b", "c"].map((name) =>
          expect.objectContaining({ field: `spec.annotations["acme/${name}"]` }),
        ),
      }),
    );
  });

  test("refuses what cannot be honored", () => {
    expect(() => read({ "acme/class": "gold" }).throwIfInvalid()).toThrow(
      expect.objectContaining({
        reason: "FEATURE_UNSUPPORTED",
        message: "annotation acme/class is not supported: name networks by their own annotations",
      }),
    );
  });
});
