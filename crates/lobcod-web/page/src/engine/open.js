// Chooses the engine: that of `lobcod studio` if the page was opened with its token, otherwise
// WebAssembly.

import { NativeEngine } from "./native.js";
import { WasmEngine } from "./wasm.js";

/** @typedef {WasmEngine | NativeEngine} Engine */

const KEY = "lobcod-token";

/** @returns {Promise<Engine>} */
export async function openEngine() {
  const token = takeToken();
  const native = token ? await NativeEngine.open(token) : null;
  if (native === "refused") {
    sessionStorage.removeItem(KEY);
    throw new Error(
      "lobcod studio was started again, with another token. Open the address that it printed, or " +
        "reload this page to work in the browser alone.",
    );
  }
  return native ?? WasmEngine.open();
}

/** The token of the address, which is remembered for reloads and removed from the address bar. */
function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found) {
    sessionStorage.setItem(KEY, found);
    history.replaceState(null, "", location.pathname);
  }
  return found ?? sessionStorage.getItem(KEY);
}
