// Plays samples through the speakers.

/** @type {AudioContext | null} */
let audio = null;
/** @type {AudioBufferSourceNode | null} */
let playing = null;

/**
 * Plays a sound; one that is playing is stopped first.
 * @param {Float32Array} samples
 * @param {number} rate
 */
export function play(samples, rate) {
  stop();
  audio ??= new AudioContext();
  void audio.resume();
  // Browsers play 8 kHz and more; slower signals are shortened to that.
  const buffer = audio.createBuffer(1, samples.length, Math.min(96000, Math.max(8000, rate)));
  buffer.copyToChannel(new Float32Array(samples), 0);
  playing = audio.createBufferSource();
  playing.buffer = buffer;
  playing.connect(audio.destination);
  playing.start();
}

export function stop() {
  playing?.stop();
  playing = null;
}
