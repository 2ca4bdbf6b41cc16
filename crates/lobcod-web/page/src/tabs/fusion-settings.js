// What Fuse is told about the frames.

import { choice, section, slider, toggle } from "../widgets/fields.js";

/** @param {() => void} change */
export function fusionSettings(change) {
  const mode = choice({
    label: "What differs",
    value: "auto",
    options: [
      ["auto", "Auto"],
      ["focus", "Focus"],
      ["exposure", "Exposure"],
    ],
    change,
  });
  const align = choice({
    label: "Align the frames",
    value: "auto",
    options: [
      ["auto", "Auto"],
      ["none", "None"],
      ["shift", "Shift"],
      ["similarity", "Full"],
    ],
    hints: { none: "From a tripod", shift: "Move only", similarity: "Move, rotate and scale" },
    change,
  });
  const activityWindow = slider({
    label: "Window",
    min: 3,
    max: 31,
    step: 2,
    value: 9,
    show: (n) => `${n} px`,
    hint: "Over which activity is averaged",
    change,
  });
  const fast = toggle({ label: "Half resolution, four times faster", change });
  return {
    element: section(
      "Fusion",
      mode.element,
      align.element,
      activityWindow.element,
      fast.element,
    ),
    /** The options of the task. */
    options: () => ({
      mode: mode.value,
      align: align.value,
      window: activityWindow.value,
      fast: fast.value,
    }),
  };
}
