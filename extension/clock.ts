// The time that observations carry: milliseconds since the epoch that never run backwards, because the detector takes
// events in time order and the system clock may be set back.

let last = 0;
let offset = 0;

export function now(): number {
  const raw = Date.now();
  if (raw + offset < last) offset = last - raw;
  last = raw + offset;
  return last;
}
