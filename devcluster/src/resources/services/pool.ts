/** A range of values of which each is in use at most once. */
export interface Pool<T> {
  /** A free value that is not reserved either; throws when there is none. */
  next(reserved?: ReadonlySet<T>): T;
  /** Why a value cannot be taken, in the real server's words; undefined when it can. */
  problemWith(value: T): string | undefined;
  /** Words for a value in use. */
  readonly takenText: string;
}

export interface PoolOptions<T> {
  /** Number of values. */
  readonly size: number;
  /** Values are handed out from here on, so that ones that users pick (at the start of the range) stay free longer. */
  readonly firstIndex: number;
  readonly valueAt: (index: number) => T;
  /** Undefined when the value is outside the range. */
  readonly indexOf: (value: T) => number | undefined;
  readonly inUse: () => ReadonlySet<T>;
  /** Words for a value outside the range. */
  readonly outside: (value: T) => string;
  /** Words for a value in use. */
  readonly taken: string;
}

/**
 * A pool that keeps no books of its own: what is in use is read from the stored objects, so nothing can leak. It only remembers where it was.
 */
export function createPool<T>(options: PoolOptions<T>): Pool<T> {
  let cursor = options.firstIndex;
  return {
    takenText: options.taken,
    next(reserved) {
      const used = options.inUse();
      for (let tried = 0; tried < options.size; tried += 1) {
        const value = options.valueAt(cursor);
        // A value that was just freed is not handed out again at once: someone may still use it.
        cursor = (cursor + 1) % options.size;
        if (!used.has(value) && reserved?.has(value) !== true) return value;
      }
      throw new Error("range is full");
    },
    problemWith(value) {
      if (options.indexOf(value) === undefined) return options.outside(value);
      return options.inUse().has(value) ? options.taken : undefined;
    },
  };
}
