// Starts the page: the engine, the tabs, and files that are dropped or pasted.

import { h, icon, newId } from "./dom.js";
import { openEngine } from "./engine/open.js";
import { filesOf } from "./image/load.js";
import { Pictures } from "./pictures.js";
import { denoiseTab } from "./tabs/denoise.js";
import { fuseTab } from "./tabs/fuse.js";
import { learnTab } from "./tabs/learn.js";
import { restoreTab } from "./tabs/restore.js";
import { soundTab } from "./tabs/sound.js";
import { sentenceOf } from "./words.js";

/**
 * What a tab gets.
 * @typedef {{ engine: import("./engine/open.js").Engine, pictures: Pictures }} Context
 */

/**
 * What a tab offers: its element, and what to do with files, when it is shown, and with keys.
 * @typedef {{ element: HTMLElement, receive: (files: File[]) => void, shown?: () => void,
 *   key?: (event: KeyboardEvent) => void }} Tab
 */

/** @type {[string, string, (context: Context) => Tab][]} */
const TABS = [
  ["restore", "Restore", restoreTab],
  ["fuse", "Fuse", fuseTab],
  ["denoise", "Denoise", denoiseTab],
  ["learn", "Learn", learnTab],
  ["sound", "Sound", soundTab],
];

/** @param {string} id @returns {HTMLElement} */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {unknown} error */
function fail(error) {
  byId("notice").textContent = sentenceOf(error);
  byId("notice").hidden = false;
}

/** @param {Context} context */
function buildTabs(context) {
  /**
   * @type {Map<string, { button: HTMLElement, panel: HTMLElement, tab: Tab | null,
   *   make: (context: Context) => Tab }>}
   */
  const all = new Map();
  let current = "";
  const show = (/** @type {string} */ key) => {
    current = key;
    for (const [name, entry] of all) {
      const selected = name === key;
      entry.button.setAttribute("aria-selected", String(selected));
      entry.button.tabIndex = selected ? 0 : -1;
      entry.panel.hidden = !selected;
      if (selected && !entry.tab) {
        entry.tab = entry.make(context);
        entry.panel.append(entry.tab.element);
      }
      if (selected) {
        entry.tab?.shown?.();
        entry.button.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
    }
    history.replaceState(null, "", `#${key}`);
  };
  for (const [key, title, make] of TABS) {
    const [buttonId, panelId] = [newId(), newId()];
    const button = h(
      "button",
      { type: "button", role: "tab", id: buttonId, "aria-controls": panelId, class: "tab" },
      title,
    );
    button.addEventListener("click", () => show(key));
    const panel = h("section", {
      role: "tabpanel",
      id: panelId,
      "aria-labelledby": buttonId,
      class: "tab-panel",
      hidden: true,
    });
    all.set(key, { button, panel, tab: null, make });
    byId("tabs").append(button);
    byId("main").append(panel);
  }
  byId("tabs").addEventListener("keydown", (event) => {
    const keys = [...all.keys()];
    const at = keys.indexOf(current);
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: (at + 1) % keys.length,
      ArrowLeft: (at + keys.length - 1) % keys.length,
      Home: 0,
      End: keys.length - 1,
    };
    const next = keys[places[event.key]];
    if (!next) return;
    event.preventDefault();
    show(next);
    all.get(next)?.button.focus();
  });
  const wanted = () => (all.has(location.hash.slice(1)) ? location.hash.slice(1) : "restore");
  window.addEventListener("hashchange", () => show(wanted()));
  show(wanted());
  return () => /** @type {Tab} */ (all.get(current)?.tab);
}

/** @param {() => Tab} current */
function listen(current) {
  const give = (/** @type {DataTransfer | null} */ transfer) => {
    const files = filesOf(transfer);
    if (files.length > 0) current().receive(files);
  };
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    give(event.dataTransfer);
  });
  document.addEventListener("paste", (event) => give(event.clipboardData));
  document.addEventListener("keydown", (event) => current().key?.(event));
}

try {
  const engine = await openEngine();
  byId("engine").append(icon("chip"), h("span", { class: "engine-name" }, engine.name));
  byId("engine").title = engine.detail;
  listen(buildTabs({ engine, pictures: new Pictures() }));
  document.documentElement.dataset.ready = "true";
} catch (error) {
  fail(error);
}
