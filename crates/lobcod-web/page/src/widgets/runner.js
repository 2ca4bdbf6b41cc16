// The Run button with progress, Stop and the line that says what happened.

import { button, h } from "../dom.js";
import { durationText, sentenceOf } from "../words.js";

/** Seconds after which, and fraction of the work from which on, the time left is estimated. */
const ESTIMATE = { seconds: 4, fraction: 0.04 };

/** @typedef {import("../engine/message.js").Message} Message */

/**
 * @typedef {object} RunnerOptions
 * @property {string} label of the button
 * @property {() => void} start
 * @property {() => Element} [watch] where the result appears, which narrow screens scroll to
 */

export class Runner {
  /**
   * @param {import("../engine/open.js").Engine} engine
   * @param {RunnerOptions} options
   */
  constructor(engine, { label, start, watch }) {
    this.engine = engine;
    this.watch = watch;
    /** @type {AbortController | null} */
    this.controller = null;
    this.startButton = button({ icon: "play", text: label, kind: "primary wide", press: start });
    this.stopButton = button({
      icon: "stop",
      text: "Stop",
      kind: "wide",
      press: () => this.stop(),
    });
    this.stopButton.hidden = true;
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Progress", hidden: true });
    this.left = h("p", { class: "quiet time-left", hidden: true });
    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.element = h(
      "div",
      { class: "runner" },
      this.startButton,
      this.stopButton,
      this.bar,
      this.left,
      this.status,
    );
  }

  get busy() {
    return this.controller !== null;
  }

  stop() {
    this.controller?.abort();
  }

  /** @param {string} text */
  say(text) {
    this.status.classList.remove("failed");
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  /** @param {unknown} error */
  fail(error) {
    this.status.classList.add("failed");
    this.status.textContent = sentenceOf(error);
    this.status.scrollIntoView({ block: "nearest" });
  }

  /**
   * Runs a job; a job in progress is stopped first. Resolves to `null` if it was stopped or
   * failed, which the status line then says.
   * @param {{ task: string, options: Record<string, any>,
   *   buffers: import("../engine/wasm.js").Buffers,
   *   preview?: (message: Message) => void, progress?: (message: Message) => void }} job
   * @returns {Promise<Message | null>}
   */
  async run({ task, options, buffers, preview, progress }) {
    this.stop();
    const controller = new AbortController();
    this.controller = controller;
    this.show(true);
    this.say("Working…");
    this.watch?.().scrollIntoView({ block: "nearest" });
    this.bar.removeAttribute("value");
    const started = performance.now();
    try {
      const event = (/** @type {Message} */ message) => {
        if (controller.signal.aborted) return;
        if (message.event === "preview") preview?.(message);
        else if (message.event === "progress") {
          this.bar.value = message.fraction;
          this.estimate(message.fraction, (performance.now() - started) / 1000);
          progress?.(message);
        }
      };
      const result = await this.engine.run({
        task,
        options,
        buffers,
        signal: controller.signal,
        event,
      });
      if (!result && this.controller === controller) this.say("Stopped.");
      if (result) result.waited = (performance.now() - started) / 1000;
      return this.controller === controller ? result : null;
    } catch (error) {
      if (this.controller === controller) this.fail(error);
      return null;
    } finally {
      if (this.controller === controller) {
        this.controller = null;
        this.show(false);
      }
    }
  }

  /**
   * Says how long it may still take.
   * @param {number} fraction of the work that is done
   * @param {number} seconds since the start
   */
  estimate(fraction, seconds) {
    const known = seconds > ESTIMATE.seconds && fraction > ESTIMATE.fraction && fraction < 1;
    this.left.hidden = !known;
    if (known) this.left.textContent = `About ${durationText(seconds / fraction - seconds)} left`;
  }

  /** @param {boolean} running */
  show(running) {
    // Screen readers wait for the end: progress would be read all the time.
    this.status.ariaBusy = String(running);
    const focused = document.activeElement === (running ? this.startButton : this.stopButton);
    this.startButton.hidden = running;
    this.stopButton.hidden = !running;
    this.bar.hidden = !running;
    this.left.hidden = true;
    if (focused) (running ? this.stopButton : this.startButton).focus({ preventScroll: true });
  }
}
