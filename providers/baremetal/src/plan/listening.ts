/** Ports on which programs of this machine listen on all addresses, from what `ss -Hltn` prints. */
export function wildcardPorts(listing: string): ReadonlySet<number> {
  const ports = listing.split("\n").flatMap((line) => {
    const [, port] = /^LISTEN\s+\d+\s+\d+\s+(?:0\.0\.0\.0|\*|\[::\]|::):(\d+)\s/.exec(line.trim()) ?? [];
    return port === undefined ? [] : Number(port);
  });
  return new Set(ports);
}
