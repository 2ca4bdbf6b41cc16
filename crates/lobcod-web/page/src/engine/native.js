// The engine of `lobcod studio`: the program on this computer, reached over HTTP with its token.

import { counted, sentence } from "../words.js";
import { decode, encode, PROTOCOL } from "./message.js";

const GONE = "lobcod studio does not answer. Start it again, and open the address it prints.";

export class NativeEngine {
  /**
   * @param {string} token
   * @param {{ engine: string, threads: number, version: string }} status
   */
  constructor(token, status) {
    this.token = token;
    this.native = true;
    this.name = "On this computer";
    const { version, engine, threads } = status;
    this.detail = `lobcod ${version}, ${engine}, ${counted(threads, "thread")}.`;
  }

  /**
   * Asks the server for its state; `null` if the page is not served by `lobcod studio`.
   * @param {string} token
   * @returns {Promise<NativeEngine | "refused" | null>}
   */
  static async open(token) {
    const response = await fetch("api/v1/status", { headers: { "X-Lobcod-Token": token } }).catch(
      () => null,
    );
    if (response?.status === 403) return "refused";
    if (!response?.ok) return null;
    const status = await response.json();
    return status.protocol === PROTOCOL ? new NativeEngine(token, status) : null;
  }

  /**
   * Runs a job. Resolves to its result, or to `null` if it was stopped.
   * @param {import("./wasm.js").Job} job
   * @returns {Promise<import("./message.js").Message | null>}
   */
  async run({ task, options, buffers, signal, event }) {
    try {
      const body = encode({ protocol: PROTOCOL, task, options }, buffers);
      const headers = { "X-Lobcod-Token": this.token, "Content-Type": "application/octet-stream" };
      const response = await fetch("api/v1/run", { method: "POST", headers, body, signal });
      if (!response.ok || !response.body)
        throw new Error(sentence((await response.json().catch(() => null))?.error ?? GONE));
      for await (const message of messages(response.body.getReader())) {
        if (message.event === "result") return message;
        if (message.event === "error") throw new Error(sentence(message.message));
        event(message);
      }
      throw new Error(GONE);
    } catch (error) {
      if (signal.aborted) return null;
      throw error instanceof TypeError ? new Error(GONE) : error;
    }
  }
}

/**
 * The messages of a stream, each preceded by its length.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 */
async function* messages(reader) {
  /** @type {Uint8Array[]} */
  let chunks = [];
  let available = 0;
  /** @type {(count: number) => Promise<Uint8Array<ArrayBuffer> | null>} */
  const take = async (count) => {
    while (available < count) {
      const { done, value } = await reader.read();
      if (done) return null;
      chunks.push(value);
      available += value.length;
    }
    const bytes = new Uint8Array(count);
    let filled = 0;
    while (filled < count) {
      const part = chunks[0].subarray(0, count - filled);
      bytes.set(part, filled);
      filled += part.length;
      if (part.length === chunks[0].length) chunks.shift();
      else chunks[0] = chunks[0].subarray(part.length);
    }
    available -= count;
    return bytes;
  };
  for (;;) {
    const head = await take(4);
    if (!head) return;
    const body = await take(new DataView(head.buffer).getUint32(0, true));
    if (!body) return;
    yield decode(body);
  }
}
