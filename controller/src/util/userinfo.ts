/**
 * An address as messages may show it: without the user and the password that somebody wrote into it. Up to the last @, for a password
 * may hold one, or a slash.
 */
export function withoutUserinfo(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1***@");
}
