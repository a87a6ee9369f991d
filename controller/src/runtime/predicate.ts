/** Which changes of an object wake a controller. Pure: values in, verdict out. */
export interface Predicate<T> {
  /** Also asked for every object of the first list. */
  add(object: T): boolean;
  /** Also asked with the same object twice on a resync. */
  update(old: T, object: T): boolean;
  delete(last: T): boolean;
}
