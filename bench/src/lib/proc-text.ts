/** A number from a file of /proc of the form `Name: number unit`; 0 where there is no such line. */
export function numberOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
}

/** The same of what is given in kB, which are kibibytes there. */
export function bytesOf(text: string, name: string): number {
  return numberOf(text, name) * 1024;
}
