/** More of them help nobody. */
const MOST = 3;

/** Names with more letters wrong are other names. */
const MOST_EDITS = 2;

/**
 * Who may be meant by a name that nothing has: a Service of that name in another namespace, longer names that go on behind a dot, or
 * else a misspelling. Some ten milliseconds for 15,000 names.
 */
export function likelyNames(name: string, known: Iterable<string>): readonly string[] {
  const all = [...known];
  const own = name.slice(name.indexOf("/"));
  const same = all.filter((one) => (own.startsWith("/") && one.endsWith(own)) || one.startsWith(`${name}.`));
  if (same.length > 0) return same.slice(0, MOST);
  const most = Math.min(MOST_EDITS, Math.floor(name.length / 2));
  for (let edits = 1; edits <= most; edits++) {
    const near = all.find((one) => isWithin(edits, one, name));
    if (near !== undefined) return [near];
  }
  return [];
}

/** So many letters may be put in, left out or changed to make the one of the other. */
function isWithin(edits: number, left: string, right: string, from = { left: 0, right: 0 }): boolean {
  let { left: i, right: j } = from;
  while (i < left.length && j < right.length && left[i] === right[j]) {
    i++;
    j++;
  }
  const rest = Math.max(left.length - i, right.length - j);
  if (rest <= edits) return true;
  if (edits === 0) return false;
  return (
    isWithin(edits - 1, left, right, { left: i + 1, right: j + 1 }) ||
    isWithin(edits - 1, left, right, { left: i + 1, right: j }) ||
    isWithin(edits - 1, left, right, { left: i, right: j + 1 })
  );
}
