/** What @grpc/grpc-js calls an address of ours; undefined: it is none. */
export function grpcTarget(address: string): string | undefined {
  const [, path] = /^unix:\/\/(\/.+)$/.exec(address) ?? [];
  if (path !== undefined) return `unix://${path}`;
  const [, host] = /^tcp:\/\/((?:\[[^\]]+\]|[^:/[\]]+):\d{1,5})$/.exec(address) ?? [];
  return host;
}

/** For messages. */
export const ADDRESS_FORMS = "unix:///PATH, or tcp://HOST:PORT";
