export interface LoopbackPools {
  readonly instancePool: string;
  readonly loadBalancerPool: string;
}

/** Of 1,024 addresses, in a /16. */
const NETWORKS = 64;

/**
 * Addresses for a cloud in a test, so that clouds of tests that run at the same time do not meet.
 * @param key the same key gives the same pools; a process id is a good one
 */
export function loopbackPools(key: number): LoopbackPools {
  const network = `127.${64 + (Math.floor(key / NETWORKS) % 128)}`;
  const first = (key % NETWORKS) * 4;
  return { instancePool: `${network}.${first}.0/23`, loadBalancerPool: `${network}.${first + 2}.0/23` };
}
