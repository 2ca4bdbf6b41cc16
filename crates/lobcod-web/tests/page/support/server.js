// A static server for the page, with the headers of `lobcod studio`.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const PAGE = fileURLToPath(new URL("../../../page", import.meta.url));

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves the page and the module on a free port of the loopback.
 * @param {string} wasm path of the module
 * @param {string} folder of the page
 * @param {Record<string, string>} headers
 */
export async function serve(wasm, folder = PAGE, headers = { "Content-Security-Policy": POLICY }) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://page").pathname;
    const file =
      path === "/lobcod_web.wasm"
        ? wasm
        : join(folder, normalize(path.endsWith("/") ? `${path}index.html` : path));
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) return response.writeHead(404).end();
    response.writeHead(200, {
      "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
      ...headers,
    });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
