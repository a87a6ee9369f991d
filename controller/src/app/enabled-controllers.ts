/**
 * Which controllers `--controllers` turns on. The first mention of a name wins, `*` stands for all that are on by
 * default; aliases are resolved first (controller-manager/app/controller_context.go IsControllerEnabled v0.36.3).
 */
export function isControllerEnabled(
  name: string,
  wishes: readonly string[],
  offByDefault: ReadonlySet<string>,
  aliases: Readonly<Record<string, string>>,
): boolean {
  for (const wish of wishes) {
    const off = wish.startsWith("-");
    const plain = off ? wish.slice(1) : wish;
    if ((aliases[plain] ?? plain) === name) return !off;
  }
  return wishes.includes("*") && !offByDefault.has(name);
}
