// The command line and the Python call that do the same as the page.

/** @typedef {{ shell: string, python: string }} Recipe */
/** Name, value and default of an option. @typedef {[string, any, any]} Option */

/**
 * A file name as a word of the shell, which is not an option.
 * @param {string} name
 */
function quoted(name) {
  const path = name.startsWith("-") ? `./${name}` : name;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * Options that differ from their defaults, for the shell.
 * @param {Option[]} options
 */
const shellOptions = (options) =>
  options
    .filter(([, value, usual]) => value !== usual)
    .map(([name, value]) => (value === true ? ` --${name}` : ` --${name} ${value}`))
    .join("");

/**
 * Options that differ from their defaults, as keyword arguments.
 * @param {Option[]} options
 */
const pythonOptions = (options) =>
  options
    .filter(([, value, usual]) => value !== usual)
    .map(([name, value]) => `, ${name}=${value === true ? "True" : JSON.stringify(value)}`)
    .join("");

/**
 * Python that reads an image, upright.
 * @param {string} name an expression
 * @param {boolean} grey
 */
const read = (name, grey) =>
  `np.asarray(ImageOps.exif_transpose(Image.open(${name})).convert("${grey ? "L" : "RGB"}"))`;

/** The argument that names the axis of the colours. @param {boolean} grey */
const colours = (grey) => (grey ? "" : ", channel_axis=-1");

const IMPORTS = ["import lobcod, numpy as np", "from PIL import Image, ImageOps", ""];

/**
 * @param {{ image: string, mask: string, output: string, preset: string, fill: string,
 *   grey: boolean }} given
 * @returns {Recipe}
 */
export function restoreRecipe({ image, mask, output, preset, fill, grey }) {
  const quality = /** @type {Option} */ (["preset", preset, "standard"]);
  // The default of `fill` differs between the two.
  const shell = shellOptions([quality, ["fill", fill, "auto"]]);
  const python = pythonOptions([quality, ["fill", fill, "model"]]);
  return {
    shell: `lobcod inpaint ${quoted(image)} --holes ${quoted(mask)} -o ${quoted(output)}${shell}`,
    python: [
      ...IMPORTS,
      `image = ${read(JSON.stringify(image), grey)}`,
      `holes = ${read(JSON.stringify(mask), true)} > 0`,
      `filled = lobcod.inpaint(image, ~holes${colours(grey)}${python})`,
      `Image.fromarray(filled).save(${JSON.stringify(output)})`,
    ].join("\n"),
  };
}

/**
 * @param {{ names: string[], mode: string, align: string, window: number, fast: boolean,
 *   painted: string | null, grey: boolean }} given
 * @returns {Recipe}
 */
export function fuseRecipe({ names, mode, align, window, fast, painted, grey }) {
  /** @type {Option[]} */
  const options = [
    ["mode", mode, "auto"],
    ["align", align, "auto"],
    ["window", window, 9],
    ["fast", fast, false],
  ];
  const files = names.map(quoted).join(" ");
  const outputs = "-o fused.png --decision-map decision.png --depth-map depth.png";
  const shell = shellOptions([...options, ["decision", painted, null]]);
  const keywords = `${colours(grey)}${pythonOptions(options)}${painted ? ", decision=decision" : ""}`;
  const map = painted && [
    `painted = np.asarray(Image.open(${JSON.stringify(painted)}).convert("LA"))`,
    `decision = np.rint(painted[..., 0] / 255 * (len(names) - 1))`,
    `decision[painted[..., 1] == 0] = np.nan`,
  ];
  return {
    shell: `lobcod fuse ${files} ${outputs}${shell}`,
    python: [
      ...IMPORTS,
      `names = ${JSON.stringify(names)}`,
      `frames = [${read("name", grey)} for name in names]`,
      ...(map ?? []),
      `fused = lobcod.fuse(frames${keywords})`,
      `Image.fromarray(fused).save("fused.png")`,
    ].join("\n"),
  };
}

/**
 * @param {{ image: string, output: string, noise: string, strength: number, preset: string,
 *   grey: boolean }} given
 * @returns {Recipe}
 */
export function denoiseRecipe({ image, output, noise, strength, preset, grey }) {
  /** @type {Option[]} */
  const options = [
    ["noise", noise, "auto"],
    ["strength", strength, 1],
    ["preset", preset, "standard"],
  ];
  return {
    shell: `lobcod denoise ${quoted(image)} -o ${quoted(output)}${shellOptions(options)}`,
    python: [
      ...IMPORTS,
      `image = ${read(JSON.stringify(image), grey)}`,
      `clean = lobcod.denoise(image${colours(grey)}${pythonOptions(options)})`,
      `Image.fromarray(clean).save(${JSON.stringify(output)})`,
    ].join("\n"),
  };
}

/**
 * What learning needs to know; `size` is along one axis.
 * @typedef {{ name: string, output: string, atoms: number, size: number, penalty: number,
 *   passes: number }} Learning
 */

/**
 * @param {Learning} given
 * @param {string} size
 */
const learnOptions = ({ output, atoms, penalty, passes }, size) =>
  `-o ${quoted(output)} --atoms ${atoms} --size ${size} ` +
  `--relative-penalty ${penalty} --passes ${passes}`;

/**
 * @param {Learning} given
 * @param {string} size
 */
const learnKeywords = ({ atoms, penalty, passes }, size) =>
  `atoms=${atoms}, size=${size}, relative_penalty=${penalty}, passes=${passes}`;

/**
 * @param {Learning} given
 * @param {boolean} grey
 * @returns {Recipe}
 */
export function learnRecipe(given, grey) {
  const { name, size } = given;
  const keywords = learnKeywords(given, `(${size}, ${size})`) + colours(grey);
  return {
    shell: `lobcod learn ${quoted(name)} ${learnOptions(given, `${size}x${size}`)}`,
    python: [
      ...IMPORTS,
      `image = ${read(JSON.stringify(name), grey)}`,
      `learnt = lobcod.learn(image, ${keywords})`,
      `lobcod.save_dictionary(${JSON.stringify(given.output)}, learnt.dictionary)`,
    ].join("\n"),
  };
}

/**
 * @param {Learning} given
 * @param {boolean} mono
 * @returns {Recipe}
 */
export function soundRecipe(given, mono) {
  const { name, size } = given;
  const note = mono ? "" : "# Average the channels first: the page works on mono sound.\n";
  const samples = `samples.astype("float32")${mono ? "" : ".mean(axis=1)"}`;
  return {
    shell: `${note}lobcod learn ${quoted(name)} --axes t ${learnOptions(given, String(size))}`,
    python: [
      "import lobcod",
      "from scipy.io import wavfile",
      "",
      `rate, samples = wavfile.read(${JSON.stringify(name)})`,
      `learnt = lobcod.learn(${samples}, ${learnKeywords(given, `(${size},)`)})`,
      `lobcod.save_dictionary(${JSON.stringify(given.output)}, learnt.dictionary)`,
    ].join("\n"),
  };
}
