/**
 * SHA-256 (FIPS 180-4) for any runtime. `crypto.subtle` is not used because it is asynchronous: a
 * result that was paid for could be lost to an interruption while it is hashed.
 */
import * as Encoding from "effect/Encoding"

/** The first 32 bits of the fraction of a root of each of the first primes. */
const fractions = (count: number, root: (prime: number) => number): Int32Array => {
  const primes: Array<number> = []
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  return Int32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32)
}

const initial = fractions(8, Math.sqrt)
const constants = fractions(64, Math.cbrt)

const blockBytes = 64

/** The bytes, a one bit, zeros to the end of a block, and the length in bits. */
const padded = (bytes: Uint8Array): DataView => {
  const view = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / blockBytes) * blockBytes))
  new Uint8Array(view.buffer).set(bytes)
  view.setUint8(bytes.length, 0x80)
  view.setBigUint64(view.byteLength - 8, BigInt(bytes.length) * 8n)
  return view
}

const rotated = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

/** The names are those of FIPS 180-4, section 6.2.2. */
export const hex = (bytes: Uint8Array): string => {
  const message = padded(bytes)
  const hash = initial.slice()
  const schedule = new Int32Array(64)
  const at = (words: Int32Array, index: number): number => words[index] ?? 0
  for (let offset = 0; offset < message.byteLength; offset += blockBytes) {
    for (let t = 0; t < 64; t++) {
      if (t < 16) {
        schedule[t] = message.getInt32(offset + 4 * t)
        continue
      }
      const early = at(schedule, t - 15)
      const late = at(schedule, t - 2)
      schedule[t] = at(schedule, t - 16) + at(schedule, t - 7) +
        (rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)) +
        (rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10))
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash
    for (let t = 0; t < 64; t++) {
      const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) +
        at(constants, t) + at(schedule, t)) | 0
      const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + second) | 0
    }
    hash.set([a, b, c, d, e, f, g, h].map((word, index) => at(hash, index) + word))
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (const [index, word] of hash.entries()) digest.setInt32(4 * index, word)
  return Encoding.encodeHex(new Uint8Array(digest.buffer))
}
