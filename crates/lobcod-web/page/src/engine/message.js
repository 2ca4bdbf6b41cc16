// Messages between the page and an engine: the length of a JSON object, the object, and raw
// buffers, each at a multiple of eight bytes. Both engines use the same.

/** Version of the messages. */
export const PROTOCOL = 1;

/**
 * @typedef {Uint8Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer> | Int32Array<ArrayBuffer>
 *   | Float32Array<ArrayBuffer>} Samples
 */
/** @typedef {{ type: "u8" | "i32" | "f32", shape: number[], data: Samples }} Buffer */
/** @typedef {Record<string, any> & { buffers: Record<string, Buffer> }} Message */

const ARRAYS = { u8: Uint8Array, i32: Int32Array, f32: Float32Array };
const aligned = (/** @type {number} */ bytes) => Math.ceil(bytes / 8) * 8;

/**
 * The bytes of a message.
 * @param {Record<string, any>} fields
 * @param {Record<string, Buffer>} buffers
 */
export function encode(fields, buffers) {
  let offset = 0;
  const listed = Object.entries(buffers).map(([name, { type, shape, data }]) => {
    const entry = { name, type, shape, offset };
    offset += aligned(data.byteLength);
    return entry;
  });
  const json = new TextEncoder().encode(JSON.stringify({ ...fields, buffers: listed }));
  const start = aligned(4 + json.length);
  const bytes = new Uint8Array(start + offset);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  for (const { name, offset } of listed) {
    const { data } = buffers[name];
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), start + offset);
  }
  return bytes;
}

/**
 * Reads a message. Buffers are views of its bytes, which must start at a multiple of eight.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Message}
 */
export function decode(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const fields = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = bytes.byteOffset + aligned(4 + length);
  /** @type {Record<string, Buffer>} */
  const buffers = {};
  for (const { name, type, shape, offset } of fields.buffers ?? []) {
    const size = shape.reduce(
      (/** @type {number} */ product, /** @type {number} */ n) => product * n,
      1,
    );
    buffers[name] = {
      type,
      shape,
      data: new ARRAYS[/** @type {keyof typeof ARRAYS} */ (type)](
        bytes.buffer,
        start + offset,
        size,
      ),
    };
  }
  return { ...fields, buffers };
}

/**
 * A buffer with the pixels of an image.
 * @param {ImageData} image
 * @returns {Buffer}
 */
export const imageBuffer = (image) => ({
  type: "u8",
  shape: [image.height, image.width, 4],
  data: image.data,
});

/**
 * The image in a buffer.
 * @param {Buffer} buffer
 */
export function bufferImage({ shape: [height, width], data }) {
  return new ImageData(
    new Uint8ClampedArray(data.buffer, data.byteOffset, data.byteLength),
    width,
    height,
  );
}
