// Puts something else into the package's slot, as a version that nobody knows yet may.

export default function changed(): void {
  Reflect.set(globalThis, Symbol.for("pi-subagents:manager"), { get: () => undefined, version: 2 });
}
