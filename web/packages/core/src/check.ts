/**
 * Checks of JSON that came from outside, put together from small ones; `wire/checks.ts` is made of them.
 * A check asks for what a type has, and no more: fields that a newer server adds are no fault.
 */

/** Tells whether a value is a `T`. */
export type Check<T> = (value: unknown) => value is T;

export const isString: Check<string> = (value) => typeof value === "string";

export const isNumber: Check<number> = (value) => typeof value === "number";

export const isBoolean: Check<boolean> = (value) => typeof value === "boolean";

/** For an instant that may also be a word. */
export const isNumberOrString: Check<number | string> = (value) => isNumber(value) || isString(value);

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

/** For a field that may be left out. */
export function orAbsent<T>(check: Check<T>): Check<T> {
  return (value): value is T => value === undefined || check(value);
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

export function objectOf<T>(fields: { readonly [Name in keyof T]-?: Check<T[Name]> }): Check<T> {
  return (value): value is T =>
    typeof value === "object" &&
    value !== null &&
    Object.entries<Check<unknown>>(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));
}
