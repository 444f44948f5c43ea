/** Options that are absent rather than undefined, as `exactOptionalPropertyTypes` wants them. */

type WithoutUndefined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Copies an object without the keys whose value is undefined. */
export const withoutUndefined = <T extends object>(values: T): WithoutUndefined<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<T>
