// Pointer, wheel and key events of a stage: tools, panning and zooming.

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {{ x: number, y: number }} Point */

/**
 * What a tool does with the pointer, in image coordinates.
 * @typedef {object} Tool
 * @property {(at: Point) => void} down
 * @property {(at: Point) => void} move while the pointer is down
 * @property {() => void} up
 * @property {() => void} cancel a second finger turned the stroke into a gesture
 * @property {number} [radius] of the cursor, in image pixels
 */

/**
 * Listens to the events of a stage.
 * @param {Stage} stage
 */
export function listen(stage) {
  const { canvas, view } = stage;
  /** @type {Map<number, Point>} */
  const fingers = new Map();
  /** @type {"none" | "tool" | "pan" | "pinch"} */
  let mode = "none";
  let spaceHeld = false;
  const place = (/** @type {PointerEvent | WheelEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (!stage.hasImage) return;
    // A pointer that is already gone (or synthetic) cannot be captured; the stroke still works.
    try {
      canvas.setPointerCapture(event.pointerId);
    } catch {}
    const at = place(event);
    fingers.set(event.pointerId, at);
    stage.cursor = null;
    if (fingers.size === 2) {
      if (mode === "tool") stage.tool?.cancel();
      mode = "pinch";
    } else if (fingers.size === 1) {
      mode =
        event.button === 1 || spaceHeld || !stage.tool
          ? "pan"
          : event.button === 0
            ? "tool"
            : "none";
      if (mode === "tool") stage.tool?.down(view.toImage(at));
    }
    stage.redraw();
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (event.pointerType !== "touch") stage.cursor = view.toImage(at);
    const before = fingers.get(event.pointerId);
    if (before) {
      if (mode === "pinch") pinch(before, at, event.pointerId);
      else if (mode === "pan") view.pan(at.x - before.x, at.y - before.y);
      else if (mode === "tool") {
        const moves = event.getCoalescedEvents?.() ?? [];
        for (const step of moves.length > 0 ? moves : [event])
          stage.tool?.move(view.toImage(place(step)));
      }
      fingers.set(event.pointerId, at);
      if (mode !== "tool") stage.moved();
    }
    stage.redraw();
  });

  /** @param {Point} before @param {Point} at @param {number} id */
  function pinch(before, at, id) {
    const other = [...fingers].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const distance = (/** @type {Point} */ p) => Math.hypot(p.x - other.x, p.y - other.y);
    const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
    view.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    view.zoom(distance(at) / Math.max(1, distance(before)), middle);
  }

  const release = (/** @type {PointerEvent} */ event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (mode === "tool") event.type === "pointercancel" ? stage.tool?.cancel() : stage.tool?.up();
    mode = fingers.size > 0 ? "pan" : "none";
    stage.redraw();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    stage.cursor = null;
    stage.redraw();
  });

  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!stage.hasImage) return;
      event.preventDefault();
      view.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), place(event));
      stage.moved();
    },
    { passive: false },
  );

  canvas.addEventListener("keydown", (event) => {
    if (event.key === " ") spaceHeld = true;
    if (press(stage, event)) event.preventDefault();
  });
  canvas.addEventListener("keyup", (event) => {
    if (event.key === " ") spaceHeld = false;
  });
  canvas.addEventListener("blur", () => {
    spaceHeld = false;
  });
}

/** Directions of the arrow keys. @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Zooms with + - 0 1, moves the cursor with arrows and applies the tool with Enter. Without a tool,
 * arrows pan.
 * @param {Stage} stage
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key had a meaning
 */
function press(stage, event) {
  if (!stage.hasImage || event.ctrlKey || event.metaKey || event.altKey) return false;
  const { view } = stage;
  const arrow = ARROWS[event.key];
  if (event.key === "+" || event.key === "=") stage.zoomBy(1.5);
  else if (event.key === "-") stage.zoomBy(1 / 1.5);
  else if (event.key === "0") stage.fit();
  else if (event.key === "1") stage.zoomBy(1 / view.scale);
  else if (arrow && stage.tool) {
    const step = (event.shiftKey ? 10 : 1) * Math.max(1, Math.round(4 / view.scale));
    const from = stage.cursor ?? view.toImage({ x: view.width / 2, y: view.height / 2 });
    stage.cursor = {
      x: Math.min(view.imageWidth - 0.5, Math.max(0.5, Math.floor(from.x) + 0.5 + step * arrow[0])),
      y: Math.min(
        view.imageHeight - 0.5,
        Math.max(0.5, Math.floor(from.y) + 0.5 + step * arrow[1]),
      ),
    };
    view.reveal(stage.cursor);
    stage.moved();
  } else if (arrow) {
    view.pan(-40 * arrow[0], -40 * arrow[1]);
    stage.moved();
  } else if (event.key === "Enter" && stage.tool && stage.cursor) {
    stage.tool.down(stage.cursor);
    stage.tool.up();
    stage.redraw();
  } else return event.key === " ";
  return true;
}
