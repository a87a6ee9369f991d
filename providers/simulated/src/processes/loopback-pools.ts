export interface LoopbackPools {
  readonly instancePool: string;
  readonly loadBalancerPool: string;
}

/**
 * Addresses for a cloud in a test, so that clouds of tests that run at the same time do not meet.
 * @param key the same key gives the same pools; a process id is a good one
 */
export function loopbackPools(key: number): LoopbackPools {
  const network = `127.${64 + (Math.floor(key / 256) % 128)}.${key % 256}`;
  return { instancePool: `${network}.0/25`, loadBalancerPool: `${network}.128/25` };
}
