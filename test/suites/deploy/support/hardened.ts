/** What an image has to run under, as podman's options. */
export const HARDENED: readonly string[] = [
  "--read-only",
  "--cap-drop=ALL",
  "--security-opt=no-new-privileges",
  "--network=host",
];
