/** What a reply must at least have to be the server's. */

export type Shape = Readonly<Record<string, "string" | "number" | "list">>;

export function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(shape).every(([name, kind]) => {
    const field = (value as Record<string, unknown>)[name];
    return kind === "list" ? Array.isArray(field) : typeof field === kind;
  });
}
