import { expect, test } from "vitest";
import { IMAGES, parseImage } from "./images.ts";

test("IMAGES has the controller and each provider of this repository", () => {
  expect(IMAGES.map(({ name, userId, needs }) => [name, userId, needs])).toEqual([
    ["cloudwire-controller-manager", 65_532, undefined],
    ["cloudwire-provider-aws", 65_532, undefined],
    // Kubernetes gives added capabilities to the superuser alone.
    ["cloudwire-provider-baremetal", 0, "gateway"],
    ["cloudwire-provider-openstack", 65_532, undefined],
    ["cloudwire-provider-simulated", 65_532, undefined],
  ]);
});

const image = { title: "t", description: "d", userId: 1 };

test.each([
  ["no title", { title: undefined }, "name, image.title and image.description must be texts"],
  ["a user by name", { userId: "www-data" }, "image.userId must be a number"],
  ["a group of packages that is not there", { needs: "router" }, "image.needs must be one of base, gateway"],
])("parseImage() refuses %s", (_sentence, change, message) => {
  const text = JSON.stringify({ name: "aws", image: { ...image, ...change } });
  expect(() => parseImage(text, "providers/aws/provider.json")).toThrow(`providers/aws/provider.json: ${message}`);
});
