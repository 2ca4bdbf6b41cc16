// Runs one request in the WebAssembly module, as a worker of the page does.
//
//     node run.mjs MODULE < REQUEST > EVENTS
//
// EVENTS: for each event its length (u32, little-endian) and the message. The seconds that the
// thread of the module used are printed on standard error: processor time on Linux, elsewhere wall
// time.

import { readFileSync, writeSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const request = readFileSync(0);

function seconds() {
  try {
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[0]) / 1e9;
  } catch {
    return performance.now() / 1e3;
  }
}

function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

const { exports } = new WebAssembly.Instance(module, {
  lobcod: {
    now: () => performance.now(),
    event: (at, length) => {
      const size = new Uint8Array(new Uint32Array([length]).buffer);
      write(size);
      write(new Uint8Array(exports.memory.buffer, at, length));
    },
    stopped: () => 0,
  },
});
if (exports.lobcod_protocol() !== 1) throw new Error("another version of the protocol");
const at = exports.lobcod_alloc(request.length);
if (at === 0) throw new Error("not enough memory for the request");
new Uint8Array(exports.memory.buffer, at, request.length).set(request);
const began = seconds();
exports.lobcod_run(at, request.length);
console.error(seconds() - began);
