// Fields of objects that other packages and processes made: read as what they should be, or not at all.

/** A string field, `""` when there is none. */
export function text(from: unknown, field: string): string {
  const value = typeof from === "object" && from !== null ? Reflect.get(from, field) : undefined;
  return typeof value === "string" ? value : "";
}

/** A finite number. */
export function number(from: unknown, field: string): number | undefined {
  const value = typeof from === "object" && from !== null ? Reflect.get(from, field) : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
