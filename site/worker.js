// Pages opened from a folder may not start a worker, so the search runs in a hidden frame there.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.deliver(this, data);
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      this.ready = new Promise((resolve) => (script.onload = resolve));
      frame.contentDocument.body.append(script);
    }
    deliver(target, data) {
      const event = new MessageEvent("message", { data });
      target.dispatchEvent(event);
      if (target === this && this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      this.ready.then(() => this.deliver(this.inside, data));
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
