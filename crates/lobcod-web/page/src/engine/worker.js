// A Web Worker that runs one job in WebAssembly and passes its events on. It is ended after the
// job, because the memory of a WebAssembly instance never shrinks.

self.addEventListener(
  "message",
  async (
    /** @type {MessageEvent<{ module: WebAssembly.Module, request: Uint8Array }>} */ {
      data: { module, request },
    },
  ) => {
    const post = (/** @type {Uint8Array} */ bytes) =>
      self.postMessage({ bytes }, { transfer: [bytes.buffer] });
    try {
      /** @type {any} */
      let exports;
      /** @type {WebAssembly.Instance} */
      const instance = await WebAssembly.instantiate(module, {
        lobcod: {
          now: () => performance.now(),
          event: (/** @type {number} */ at, /** @type {number} */ length) => {
            post(new Uint8Array(exports.memory.buffer, at >>> 0, length >>> 0).slice());
          },
          stopped: () => 0,
        },
      });
      exports = instance.exports;
      const at = exports.lobcod_alloc(request.length) >>> 0;
      if (at === 0) throw new RangeError("no memory for the request");
      new Uint8Array(exports.memory.buffer, at, request.length).set(request);
      exports.lobcod_run(at, request.length);
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      self.postMessage({ failure: { name, message } });
    }
  },
);
