import { expect, test } from "vitest";
import { methodsByName, serviceName } from "../contract/methods.ts";
import { seededRandom } from "../suite/plan.ts";
import { randomResponses } from "./random-message.ts";

test("randomResponses() makes messages of every method that can be read, and the same for the same seed", () => {
  const [one, other] = [1, 1].map((seed) => randomResponses(seededRandom(seed, "test")));
  const sizes = Object.values(methodsByName).flatMap(({ name, responseType }) =>
    Array.from({ length: 50 }, () => {
      const bytes = one?.(`/${serviceName}/${name}`) ?? Buffer.alloc(0);
      expect(other?.(`/${serviceName}/${name}`)).toEqual(bytes);
      expect(() => responseType.decode(bytes)).not.toThrow();
      return bytes.length;
    }),
  );
  expect(Math.max(...sizes)).toBeGreaterThan(100);
  expect(one?.("/grpc.health.v1.Health/Check")).toBeUndefined();
});
