// The command line and the Python call that do the same as the page.

/** @typedef {{ shell: string, python: string }} Recipe */
/** Name, value and default of an option. @typedef {[string, any, any]} Option */

/**
 * A file name as a word of the shell.
 * @param {string} name
 */
const quoted = (name) =>
  /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;

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
 * Python that reads an image.
 * @param {string} name an expression
 * @param {"RGB" | "L"} mode
 */
const read = (name, mode = "RGB") => `np.asarray(Image.open(${name}).convert("${mode}"))`;

const IMPORTS = ["import lobcod, numpy as np", "from PIL import Image", ""];

/**
 * @param {{ image: string, mask: string, output: string, preset: string, fill: string }} given
 * @returns {Recipe}
 */
export function restoreRecipe({ image, mask, output, preset, fill }) {
  const quality = /** @type {Option} */ (["preset", preset, "standard"]);
  // The default of `fill` differs between the two.
  const shell = shellOptions([quality, ["fill", fill, "auto"]]);
  const python = pythonOptions([quality, ["fill", fill, "model"]]);
  return {
    shell: `lobcod inpaint ${quoted(image)} --holes ${quoted(mask)} -o ${quoted(output)}${shell}`,
    python: [
      ...IMPORTS,
      `image = ${read(JSON.stringify(image))}`,
      `holes = ${read(JSON.stringify(mask), "L")} > 0`,
      `filled = lobcod.inpaint(image, ~holes, channel_axis=-1${python})`,
    ].join("\n"),
  };
}

/**
 * @param {{ names: string[], mode: string, align: string, window: number, fast: boolean }} given
 * @returns {Recipe}
 */
export function fuseRecipe({ names, mode, align, window, fast }) {
  /** @type {Option[]} */
  const options = [
    ["mode", mode, "auto"],
    ["align", align, "auto"],
    ["window", window, 9],
    ["fast", fast, false],
  ];
  const files = names.map(quoted).join(" ");
  const outputs = "-o fused.png --decision-map decision.png --depth-map depth.png";
  const keywords = `channel_axis=-1, return_report=True${pythonOptions(options)}`;
  return {
    shell: `lobcod fuse ${files} ${outputs}${shellOptions(options)}`,
    python: [
      ...IMPORTS,
      `names = ${JSON.stringify(names)}`,
      `frames = [${read("name")} for name in names]`,
      `fused, report = lobcod.fuse(frames, ${keywords})`,
      "decision = report.decision",
    ].join("\n"),
  };
}

/**
 * @param {{ image: string, output: string, noise: string, strength: number, preset: string }} given
 * @returns {Recipe}
 */
export function denoiseRecipe({ image, output, noise, strength, preset }) {
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
      `image = ${read(JSON.stringify(image))}`,
      `clean = lobcod.denoise(image, channel_axis=-1${pythonOptions(options)})`,
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
  const keywords = learnKeywords(given, `(${size}, ${size})`) + (grey ? "" : ", channel_axis=-1");
  return {
    shell: `lobcod learn ${quoted(name)} ${learnOptions(given, `${size}x${size}`)}`,
    python: [
      ...IMPORTS,
      `image = ${read(JSON.stringify(name), grey ? "L" : "RGB")}`,
      `learnt = lobcod.learn(image, ${keywords})`,
      "learnt.dictionary",
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
      "learnt.dictionary",
    ].join("\n"),
  };
}
