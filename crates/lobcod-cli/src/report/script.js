"use strict";
// Sliders between two images.
for (const slider of document.querySelectorAll(".compare input")) {
  slider.addEventListener("input", () => follow(slider));
  follow(slider);
}

function follow(slider) {
  const compare = slider.closest(".compare");
  const group = compare.closest(".panels") || compare;
  const zoom = Number(group.style.getPropertyValue("--zoom")) || 1;
  const x = Number(group.style.getPropertyValue("--x")) || 0;
  compare.style.setProperty("--cut", slider.value + "%");
  // The enlarged image is cut at the same place of the window.
  compare.style.setProperty("--cut-within", (slider.value - 100 * x) / zoom + "%");
}

// A choice of the image on the left.
for (const choice of document.querySelectorAll(".tools select")) {
  choice.addEventListener("change", () => {
    const compare = choice.closest("figure").querySelector(".compare");
    const images = compare.querySelectorAll(".first");
    images.forEach((image, i) => { image.hidden = i !== choice.selectedIndex; });
    compare.querySelector(".before").textContent = choice.value;
  });
}

// Images of one group are enlarged and moved together.
for (const group of document.querySelectorAll(".panels")) {
  const images = [...group.querySelectorAll("img")];
  for (const image of images.filter((image) => !image.closest(".compare"))) {
    const view = document.createElement("div");
    view.className = "view";
    image.replaceWith(view);
    view.append(image);
  }
  let [zoom, x, y] = [1, 0, 0];
  const show = () => {
    zoom = Math.min(Math.max(zoom, 1), 64);
    [x, y] = [x, y].map((v) => Math.min(Math.max(v, 1 - zoom), 0));
    group.style.setProperty("--zoom", zoom);
    group.style.setProperty("--x", x);
    group.style.setProperty("--y", y);
    group.classList.toggle("enlarged", zoom > 1);
    for (const image of images) {
      const magnified = zoom * image.clientWidth / image.naturalWidth;
      image.style.imageRendering = magnified >= 2 ? "pixelated" : "";
    }
    group.querySelectorAll(".compare input").forEach(follow);
  };
  // Enlarges around a point, given in fractions of the image.
  const enlarge = (factor, [u, v] = [0.5, 0.5]) => {
    const before = zoom;
    zoom = Math.min(Math.max(zoom * factor, 1), 64);
    x = u - (u - x) * zoom / before;
    y = v - (v - y) * zoom / before;
    show();
  };
  const main = group.querySelector(".compare img, img");
  const trueSize = () => main.naturalWidth / main.clientWidth / window.devicePixelRatio;
  const tools = document.createElement("div");
  tools.className = "tools";
  const button = (text, title, act) => {
    const made = document.createElement("button");
    [made.type, made.textContent, made.title] = ["button", text, title];
    made.addEventListener("click", act);
    tools.append(made);
  };
  button("fit", "the whole image", () => { [zoom, x, y] = [1, 0, 0]; show(); });
  button("1:1", "one pixel of the image per pixel of the screen", () => enlarge(Math.max(1, trueSize()) / zoom));
  button("+", "enlarge", () => enlarge(1.5));
  button("\u2212", "reduce", () => enlarge(1 / 1.5));
  tools.append("Ctrl and wheel enlarge, dragging moves.");
  (group.querySelector("figcaption") || group).before(tools);

  const place = (event) => {
    const box = event.target.closest(".compare, .view").getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  group.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !event.target.closest(".compare, .view")) return;
    event.preventDefault();
    enlarge(event.deltaY > 0 ? 0.8 : 1.25, place(event));
  }, { passive: false });
  let held = null;
  group.addEventListener("pointerdown", (event) => {
    if (zoom === 1 || event.target.tagName !== "IMG") return;
    held = { at: place(event), x, y };
    event.target.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  group.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [u, v] = place(event);
    [x, y] = [held.x + u - held.at[0], held.y + v - held.at[1]];
    show();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    group.addEventListener(end, () => { held = null; });
  }
}
