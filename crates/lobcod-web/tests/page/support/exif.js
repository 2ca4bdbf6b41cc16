// The orientation of a photo in a JPEG file.

/**
 * A JPEG file with an EXIF orientation, 1 to 8.
 * @param {Buffer} jpeg without EXIF
 * @param {number} orientation
 */
export function oriented(jpeg, orientation) {
  const exif = Buffer.alloc(36);
  exif.writeUInt16BE(0xffe1, 0);
  exif.writeUInt16BE(34, 2);
  exif.write("Exif\0\0MM\0*", 4, "latin1");
  exif.writeUInt32BE(8, 14);
  // One entry: the tag, its type, a count of one, and the value.
  exif.writeUInt16BE(1, 18);
  exif.writeUInt16BE(0x0112, 20);
  exif.writeUInt16BE(3, 22);
  exif.writeUInt32BE(1, 24);
  exif.writeUInt16BE(orientation, 28);
  return Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]);
}
