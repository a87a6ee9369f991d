/** Of the clouds of tests there are others; this many of runs may be at the same time. */
const RUNS = 48;

/** Flags of a simulated cloud with room for tens of thousands of machines, which no other run of this machine uses. */
export function loopbackNetworks(processId: number): Readonly<Record<string, string>> {
  const second = 200 + (processId % RUNS);
  return { "instance-pool": `127.${second}.0.0/17`, "load-balancer-pool": `127.${second}.128.0/17` };
}
