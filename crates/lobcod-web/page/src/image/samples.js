// The samples a visitor can start with. Credits: samples/LICENCES.md.

import { readMask } from "../mask/files.js";
import { decode } from "./load.js";
import { cloth, hills, letter } from "./scenes.js";

/** @typedef {import("./load.js").Picture} Picture */
/**
 * @typedef {{ key: string, title: string, hint: string, credit: string, file?: string,
 *   open: () => Promise<Picture> }} Sample
 */

/** @param {string} file */
async function fetched(file) {
  const response = await fetch(`samples/${file}`);
  if (!response.ok) throw new Error(`The sample ${file} could not be loaded.`);
  return response.blob();
}

/** @param {string} file */
export const fetchPicture = async (file) => decode(await fetched(file), file);

/** @type {Sample[]} */
export const SAMPLES = [
  {
    key: "cat",
    title: "Scratched cat",
    hint: "The scratches are marked already",
    credit: "Chelsea, by Stefan van der Walt, CC0; the scratches are drawn",
    file: "cat.png",
    open: async () => {
      const picture = await fetchPicture("cat.png");
      return {
        ...picture,
        missing: await readMask(
          await fetched("cat-scratches.png"),
          "cat-scratches.png",
          picture.image,
        ),
      };
    },
  },
  {
    key: "hills",
    title: "Hills and wires",
    hint: "Paint over the wires",
    credit: "drawn by code",
    open: async () => ({ name: "hills.png", image: hills(), missing: null }),
  },
  {
    key: "letter",
    title: "Written over",
    hint: "The ink is marked already",
    credit: "drawn by code",
    open: async () => ({ name: "letter.png", ...letter() }),
  },
  {
    key: "coffee",
    title: "Coffee",
    hint: "Paint away the spoon",
    credit: "Pikolo Espresso Bar, by Rachel Michetti, CC0",
    file: "coffee.png",
    open: () => fetchPicture("coffee.png"),
  },
  {
    key: "micrograph",
    title: "Noisy micrograph",
    hint: "Made for Denoise",
    credit: "Center for Microscopy and Molecular Imaging, no known copyright restrictions",
    file: "micrograph.png",
    open: () => fetchPicture("micrograph.png"),
  },
  {
    key: "cloth",
    title: "Herringbone",
    hint: "Made for Learn",
    credit: "drawn by code",
    open: async () => ({ name: "cloth.png", image: cloth(), missing: null }),
  },
];

/** Stacks of frames for Fuse. */
export const STACKS = [
  {
    key: "focus",
    title: "Focus stack",
    hint: "Three focus distances",
    credit: "Pikolo Espresso Bar, by Rachel Michetti, CC0; the defocus is simulated",
    files: ["focus-near.png", "focus-middle.png", "focus-far.png"],
  },
  {
    key: "exposure",
    title: "Exposures",
    hint: "One dark, one bright",
    credit: "SpaceX, public domain; the exposures are simulated",
    files: ["exposure-dark.png", "exposure-bright.png"],
  },
];
