// The engine in this browser: WebAssembly in a Web Worker, one worker for each job.

import { sentence } from "../words.js";
import { decode, encode, PROTOCOL } from "./message.js";

const OUT_OF_MEMORY =
  "The browser has too little memory for this. Use a smaller image, or lobcod studio.";

/** @typedef {import("./message.js").Message} Message */
/** @typedef {Record<string, import("./message.js").Buffer>} Buffers */
/**
 * @typedef {{ task: string, options: Record<string, any>, buffers: Buffers, signal: AbortSignal,
 *   event: (message: Message) => void }} Job
 */

export class WasmEngine {
  /** @param {Promise<WebAssembly.Module>} module */
  constructor(module) {
    this.module = module;
    this.native = false;
    this.name = "In this browser";
    this.detail = "WebAssembly, one thread. Nothing is uploaded.";
  }

  /** Starts to compile the module next to the page; the page can be used meanwhile. */
  static async open() {
    const response = await fetch("lobcod_web.wasm");
    if (!response.ok)
      throw new Error(
        "lobcod_web.wasm is missing next to this page. Build it with `cargo xtask studio`.",
      );
    const type = response.headers.get("content-type");
    // Simple servers do not know the type that streaming needs.
    const module =
      type === "application/wasm"
        ? WebAssembly.compileStreaming(response)
        : response.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
    // A job that waits for the module reports its failure.
    module.catch(() => {});
    return new WasmEngine(module);
  }

  /**
   * Runs a job. Resolves to its result, or to `null` if it was stopped.
   * @param {Job} job
   * @returns {Promise<Message | null>}
   */
  async run({ task, options, buffers, signal, event }) {
    const module = await this.module;
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
      const end = (/** @type {() => void} */ settle) => {
        worker.terminate();
        signal.removeEventListener("abort", stop);
        settle();
      };
      const stop = () => end(() => resolve(null));
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop);
      worker.addEventListener("error", (fault) =>
        end(() => reject(new Error(fault.message || "The worker could not start."))),
      );
      worker.addEventListener("message", ({ data }) => {
        if (data.failure) return end(() => reject(new Error(failureText(data.failure))));
        const message = decode(data.bytes);
        if (message.event === "result") end(() => resolve(message));
        else if (message.event === "error") end(() => reject(new Error(sentence(message.message))));
        else event(message);
      });
      const request = encode({ protocol: PROTOCOL, task, options }, buffers);
      worker.postMessage({ module, request }, [request.buffer]);
    });
  }
}

/**
 * What a failure of the worker means. A trap without an event before it, and an allocation that
 * fails, are a lack of memory.
 * @param {{ name: string, message: string }} failure
 */
const failureText = ({ name, message }) =>
  name === "RuntimeError" || name === "RangeError"
    ? OUT_OF_MEMORY
    : `The engine could not start: ${message}`;
