/** A value as an error message shows it: at most 80 characters, whatever it is. */
export function preview(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  let text: string | undefined
  try {
    text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  } catch {
    // A cycle, or a `toJSON` of the sender's that throws.
  }
  text ??= `a ${typeof value}`
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
