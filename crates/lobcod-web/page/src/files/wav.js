// WAV sound: PCM and float samples.

/**
 * A sound: the mean of its channels; full scale is 1.
 * @typedef {{ name: string, rate: number, channels: number, samples: Float32Array<ArrayBuffer> }}
 *   Sound
 */

/**
 * Reads a WAV file; channels are averaged.
 * @param {ArrayBuffer} file
 * @param {string} name
 * @returns {Sound}
 */
export function readWav(file, name) {
  const bytes = new DataView(file);
  const tag = (/** @type {number} */ at) =>
    at + 4 <= bytes.byteLength ? String.fromCharCode(...new Uint8Array(file, at, 4)) : "";
  const refuse = (/** @type {string} */ why) => new Error(`${name} ${why}`);
  if (tag(0) !== "RIFF" || tag(8) !== "WAVE")
    throw refuse("is not a WAV file. Convert the sound to WAV first.");
  /** @type {{ kind: number, channels: number, rate: number, bits: number } | null} */
  let format = null;
  for (let at = 12; at + 8 <= bytes.byteLength;) {
    const size = bytes.getUint32(at + 4, true);
    if (tag(at) === "fmt " && at + 24 <= bytes.byteLength) {
      const kind = bytes.getUint16(at + 8, true);
      format = {
        // The extensible format names the kind in the first bytes of its identifier.
        kind: kind === 0xfffe && size >= 26 && at + 34 <= bytes.byteLength ? bytes.getUint16(at + 32, true) : kind,
        channels: bytes.getUint16(at + 10, true),
        rate: bytes.getUint32(at + 12, true),
        bits: bytes.getUint16(at + 22, true),
      };
    } else if (tag(at) === "data") {
      if (!format || format.channels === 0 || format.rate === 0)
        throw refuse("is damaged: it has no format. Copy or recreate the file.");
      const end = Math.min(bytes.byteLength, at + 8 + size);
      return {
        name,
        rate: format.rate,
        channels: format.channels,
        samples: mono(bytes, at + 8, end, format, refuse),
      };
    }
    at += 8 + size + (size % 2);
  }
  throw refuse("holds no samples. Copy or recreate the file.");
}

/**
 * @param {DataView} bytes
 * @param {number} start
 * @param {number} end
 * @param {{ kind: number, channels: number, bits: number }} format
 * @param {(why: string) => Error} refuse
 */
function mono(bytes, start, end, { kind, channels, bits }, refuse) {
  /** @type {Record<string, (at: number) => number>} */
  const readers = {
    "1/8": (at) => (bytes.getUint8(at) - 128) / 128,
    "1/16": (at) => bytes.getInt16(at, true) / 32768,
    "1/24": (at) =>
      (bytes.getUint8(at) | (bytes.getUint8(at + 1) << 8) | (bytes.getInt8(at + 2) << 16)) /
      8388608,
    "1/32": (at) => bytes.getInt32(at, true) / 2147483648,
    "3/32": (at) => bytes.getFloat32(at, true),
    "3/64": (at) => bytes.getFloat64(at, true),
  };
  const read = readers[`${kind}/${bits}`];
  if (!read) throw refuse("has an unsupported encoding. Convert it to plain PCM.");
  const step = bits / 8;
  const samples = new Float32Array(Math.floor((end - start) / (step * channels)));
  for (let i = 0, at = start; i < samples.length; i++) {
    let sum = 0;
    for (let c = 0; c < channels; c++, at += step) sum += read(at);
    samples[i] = sum / channels;
  }
  if (samples.length === 0) throw refuse("holds no samples. Record it again.");
  return samples;
}
