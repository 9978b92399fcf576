// SPDX-License-Identifier: BSD-3-Clause
// Browsers start no Worker for a page that is read from a file. A hidden frame runs the script of the
// site's search there; the theme looks for the name IFrameWorker.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.ready = new Promise((resolve, reject) => {
      this.frame.addEventListener("load", () => {
        const inner = this.frame.contentWindow;
        const script = inner.document.createElement("script");
        inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
        script.addEventListener("load", () => resolve(inner));
        script.addEventListener("error", reject);
        script.src = new URL(url, document.baseURI);
        inner.document.head.append(script);
      }, { once: true });
    });
    document.body.append(this.frame);
  }

  postMessage(data) {
    this.ready.then(inner => inner.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
