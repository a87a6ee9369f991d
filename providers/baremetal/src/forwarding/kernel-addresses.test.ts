import { expect, test } from "vitest";
import { parseAddresses } from "./kernel-addresses.ts";

test("parseAddresses() reads the addresses of all interfaces, however the kernel writes them", () => {
  const json = JSON.stringify([
    {
      ifname: "lo",
      addr_info: [
        { family: "inet", local: "127.0.0.1" },
        { family: "inet6", local: "::1" },
      ],
    },
    { ifname: "eth0", addr_info: [{ family: "inet6", local: "2001:DB8:0::1" }, {}] },
    {},
  ]);
  expect(parseAddresses(json)).toEqual([
    { address: "127.0.0.1", interface: "lo" },
    { address: "::1", interface: "lo" },
    { address: "2001:db8::1", interface: "eth0" },
  ]);
});
