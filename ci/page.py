"""Opens a page in headless Chromium and looks for what a reader would mind.

Usage: page.py PAGE.html [FOLDER FOR PICTURES]

Prints a line for each finding, and exits with 1 if there is any. The browser is driven
through its DevTools protocol over a pipe: JSON messages that end in a zero byte.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

# Width and height, in CSS pixels, and the scheme of colours.
VIEWS = [
    (1280, 900, "light"),
    (1280, 900, "dark"),
    (390, 844, "light"),
    (390, 844, "dark"),
]

# What is looked at in the page; returns sentences.
LOOK = r"""
(() => {
  const found = [];
  const say = (what, element) => {
    const text = (element.textContent || '').trim().slice(0, 40);
    found.push(`${what}: <${element.tagName.toLowerCase()}> "${text}"`);
  };
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide in ${width} px`);

  const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };

  const scrolls = element => {
    for (let at = element; at; at = at.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || ['TITLE', 'METADATA', 'STYLE']
      .includes(element.tagName.toUpperCase())) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0) continue;
    const inSvg = element.namespaceURI.endsWith('svg');
    const style = getComputedStyle(element);
    const colour = rgb(inSvg ? style.fill : style.color);
    const ratio = contrast(colour, behind(inSvg ? element.closest('figure') : element));
    if (ratio < 4.5) say(`contrast ${ratio.toFixed(2)}`, element);
    if (!scrolls(element) && (box.right > width + 0.5 || box.left < -0.5))
      say('outside of the page', element);
    const svg = inSvg && element.closest('svg');
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 9) say(`text of ${size.toFixed(1)} px`, element);
  }

  for (const svg of document.querySelectorAll('figure svg')) {
    const paper = svg.getBoundingClientRect();
    if (paper.width === 0) continue;
    const boxes = [...svg.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()]);
    boxes.forEach(([text, a], at) => {
      if (a.left < paper.left || a.right > paper.right || a.bottom > paper.bottom + 1)
        say('text outside of its figure', text);
      for (const [other, b] of boxes.slice(0, at)) {
        // A line of text is as high as its tallest letter could be: less is white.
        const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left),
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        if (x > 1 && y > 0.4 * Math.min(a.height, b.height))
          say(`text on "${other.textContent}"`, text);
      }
    });
  }
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(link.hash.slice(1))) say('a link to nowhere', link);
  return [...new Set(found)];
})()
"""

UNFOLD = "document.querySelectorAll('details').forEach(details => { details.open = true; })"

FILES = "[...document.querySelectorAll('a:not([href^=\"#\"])')].map(a => a.getAttribute('href'))"


class Browser:
    """A browser and one page in it."""

    def __init__(self, profile):
        (read_here, write_there), (read_there, write_here) = os.pipe(), os.pipe()
        command = [
            os.environ.get("CHROMIUM", "chromium"),
            "--headless",
            "--remote-debugging-pipe",
            # Root in a container has no other way.
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
        ]
        # The browser reads from 3 and writes to 4.
        shell = f'exec "$@" 3<&{read_there} 4>&{write_there} 2>/dev/null'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command], pass_fds=(read_there, write_there)
        )
        os.close(read_there)
        os.close(write_there)
        self.read, self.write = os.fdopen(read_here, "rb"), os.fdopen(write_here, "wb")
        self.number, self.events, self.rest, self.session = 0, [], b"", None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.ask(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.read.fileno(), 1 << 16)
            if not more:
                raise SystemExit("page: the browser ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        self.write.write(json.dumps(request).encode() + b"\0")
        self.write.flush()
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"page: {method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def open(self, url):
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"page: {result['exceptionDetails']}")
        return result["result"].get("value")

    def complaints(self):
        """Errors and warnings of the console since the page was opened."""
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Log.entryAdded" and params["entry"]["level"] != "verbose":
                yield params["entry"]["text"]
            elif event.get("method") == "Runtime.exceptionThrown":
                yield params["exceptionDetails"]["text"]
            elif event.get("method") == "Runtime.consoleAPICalled":
                yield json.dumps([arg.get("value") for arg in params["args"]])

    def picture(self, path):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        # In pieces that a viewer shows without making them smaller.
        piece, at = 1500, 0
        while at * piece < size["height"]:
            height = min(piece, size["height"] - at * piece)
            clip = {"x": 0, "y": at * piece, "width": size["width"], "height": height, "scale": 1}
            shot = self.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
            pathlib.Path(f"{path}.{at + 1}.png").write_bytes(base64.b64decode(shot["data"]))
            at += 1


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    page = pathlib.Path(sys.argv[1]).resolve()
    if not page.is_file():
        raise SystemExit(f"page: {page}: expected an HTML file")
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    findings = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        for width, height, scheme in VIEWS:
            view = f"{width} px, {scheme}"
            browser.ask(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=1,
                mobile=width < 600,
            )
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.ask("Emulation.setEmulatedMedia", features=[feature])
            browser.open(page.as_uri())
            if pictures:
                browser.picture(pictures / f"{width}-{scheme}")
            browser.value(UNFOLD)
            found = browser.value(LOOK)
            found += [f"console: {text}" for text in browser.complaints()]
            for href in browser.value(FILES):
                if not (page.parent / urllib.parse.unquote(href)).is_file():
                    found.append(f"a link to {href}, which is not there")
            for finding in found:
                print(f"page: {view}: {finding}")
            findings += len(found)
            if pictures:
                browser.picture(pictures / f"{width}-{scheme}-unfolded")
        browser.ask("Page.close")
        browser.process.terminate()
        browser.process.wait(timeout=20)
    print(f"page: {len(VIEWS)} views, {findings} findings")
    raise SystemExit(findings > 0)


main()
