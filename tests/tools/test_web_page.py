# SPDX-License-Identifier: Apache-2.0
"""The page that opens containers in a browser (src/web). With ODLC_LONG=1 emscripten compiles the page, a file server serves it, and a
headless Chromium opens containers: what is read is what dlc-viewer reads, errors are those of the commands, files of more than
4 GiB open at once in little memory, and nothing leaves the machine. ODLC_WEB_PAGE names a folder with a page that is there already."""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser  # noqa: E402
import test_large_container as large  # noqa: E402
from checks import BUILD, LONG, SHARED, SOURCE, Checks, leave_out, patient, run  # noqa: E402

SHOTS = BUILD / "viewer-screenshots"
MEBIBYTES = 96  # of WebAssembly's memory and JavaScript's heap, whatever the size of the file: 16 of them are the room for tables
SECONDS = 2

# Reads files of an input with a worker of the page's own, values that the model left for later included.
READ = """
const done = arguments[arguments.length - 1], files = [...document.getElementById('probe').files].slice(...arguments[0]);
const source = new Blob([document.getElementById('worker').textContent + `
  const answer = postMessage;
  postMessage = (data) => answer({ ...data, memory: HEAPU8.length });`]);
const worker = new Worker(URL.createObjectURL(source)), began = performance.now();
const wanted = [];
let result = null;
const collect = (value) => {
  if (value && typeof value === 'object') {
    if (value.later !== undefined)
      wanted[value.later] = value;
    Object.values(value).forEach(collect);
  }
};
const next = (at) => {
  if (at === wanted.length || !arguments[1]) {
    worker.terminate();
    done(result);
  } else {
    worker.postMessage({ values: at });
  }
};
worker.onmessage = ({ data }) => {
  if (data.total !== undefined)
    return;
  if (data.error !== undefined) {
    worker.terminate();
    done({ error: data.error });
  } else if (data.model !== undefined) {
    result = { model: JSON.parse(data.model), warnings: data.warnings, seconds: (performance.now() - began) / 1000, memory: data.memory };
    collect(result.model);
    next(0);
  } else {
    Object.assign(wanted[data.number], JSON.parse(data.values));
    delete wanted[data.number].later;
    result.memory = data.memory;
    next(data.number + 1);
  }
};
worker.onerror = (event) => done({ error: `the worker failed: ${event.message}` });
worker.postMessage({ files });
"""
DROP = """
const transfer = new DataTransfer();
for (const file of document.getElementById('probe').files)
  transfer.items.add(file);
document.getElementById('canvas').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
"""
SHOWN = "return document.querySelector('.start').hidden && window.dlcViewer && document.title"
FAILURE = "const f = document.querySelector('.failure'); return f.hidden ? '' : f.textContent"


class Server(contextlib.AbstractContextManager):
    """A plain file server of the page's folder; requests: the paths that were asked for."""

    def __init__(self, folder):
        self.requests = requests = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                requests.append(self.path)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def make_page(checks):
    """The folder of the page, or None."""
    given = os.environ.get("ODLC_WEB_PAGE")
    if given:
        return pathlib.Path(given)
    build = BUILD / "web"
    steps = [["meson", "setup", build, SOURCE, "--buildtype=release", "-Dtests=false", "-Dweb=true", "-Dwerror=true", "-Dcpu=disabled",
              "-Dgpu=disabled"]] if not (build / "build.ninja").exists() else []
    for step in (*steps, ["ninja", "-C", build, "src/web/index.html"]):
        done = subprocess.run(list(map(str, step)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if not checks.check(f"{step[0]} makes the page", done.returncode == 0, done.stdout[-2000:]):
            return None
    folder = build / "served"
    folder.mkdir(exist_ok=True)
    shutil.copy(build / "src" / "web" / "index.html", folder)
    return folder


# ---- in the browser ----


def choose(b, which, paths):
    """Gives files to an input of the page."""
    found = b.find(f"#{which}")
    b.give_files(found, paths)


def read(b, paths, values=True):
    """What a worker of the page says of files: {model, warnings, seconds, memory}, or {error}."""
    b.run("document.getElementById('probe')?.remove(); const probe = document.createElement('input');"
          "Object.assign(probe, { type: 'file', multiple: true, id: 'probe' }); document.body.append(probe);")
    choose(b, "probe", paths)
    return b.run_async(READ, [0, len(paths)], values)


def native_model(path, *options):
    page = run("dlc-viewer", "-i", path, "-q", *options)
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page.stdout, re.DOTALL)
    return json.loads(found.group(1)) if found else page.stderr


def packed(path, folder):
    """The container with all entries deflated."""
    out = folder / f"packed-{path.name}"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    return out


def check_models(checks, b, folder):
    """The model is that of dlc-viewer, for containers of all forms."""
    own = sorted((SOURCE / "testdata").glob("*.dlc"))
    shared = sorted((SHARED / "corpus" / "dlc").glob("*.dlc"))
    if not shared:
        checks.skip("models of real containers", "there is no ../shared/corpus")
    for path in own + shared + [packed(path, folder) for path in own]:
        found, expected = read(b, [path]), native_model(path)
        checks.equal(f"model of {path.name}", found.get("model", found.get("error")), expected)


def check_pairs(checks, b):
    netp, nr64 = (SOURCE / "testdata" / f"{name}.dlc" for name in ("netp", "nr64"))
    found, expected = read(b, [nr64, netp]), native_model(nr64, "--compare", netp)
    for side in ("first", "second"):  # the page knows no folders
        expected["compared"]["differences"][side]["file"] = pathlib.Path(expected["compared"]["differences"][side]["file"]).name
    checks.equal("comparison", found.get("model", found), expected)


def check_errors(checks, b, folder):
    whole = (SOURCE / "testdata" / "nr64.dlc").read_bytes()
    at = whole.index(b"NETD")
    cases = {"cut.dlc": whole[:-30], "damaged.dlc": whole[:at + 40] + b"\xff\xff\xff\x7f" + whole[at + 44:], "empty.dlc": b"",
             "model.onnx": (SOURCE / "examples" / "digits" / "digits.onnx").read_bytes()}
    for name, data in cases.items():
        (folder / name).write_bytes(data)
        found = read(b, [folder / name]).get("error", "none")
        expected = native_model(folder / name).replace(f"{folder}/", "")
        checks.equal(f"error of {name}", found, expected)


def check_large(checks, b, folder):
    if not large.has_holes(folder):
        checks.skip("large containers", "the file system has no holes")
        return
    path = folder / "large.dlc"
    large.write_container(path, "always", False, 1, 0)
    found = read(b, [path], values=False)
    tensors = {t["name"]: t for t in found["model"]["graphs"][0]["tensors"]}
    checks.equal("large: size", tensors["huge"]["bytes"], large.HUGE)
    checks.equal("large: values behind it", tensors["far"]["values"], [1.5, -2.0, 0.25, 1024.0])
    checks.check("large: seconds", found["seconds"] < patient(SECONDS) / 10, f"{found['seconds']:.2f} s")
    heap = b.run("return performance.memory.usedJSHeapSize")
    used = (found["memory"] + heap) / 2 ** 20
    checks.check("large: memory", used < MEBIBYTES, f"{used:.0f} MiB")
    print(f"{path.stat().st_size / 2 ** 30:.2f} GiB: open in {found['seconds']:.2f} s, {used:.0f} MiB of memory")
    path.unlink()


# ---- the page ----


def wait(b, script):
    return b.wait_for(script, 30)


def check_page(checks, b, folder):
    """Chosen, dropped, compared, swapped, and back after an error."""
    netp, nr64 = (SOURCE / "testdata" / f"{name}.dlc" for name in ("netp", "nr64"))
    digits = folder / "digits.dlc"
    run("onnx-to-dlc", "-i", SOURCE / "examples" / "digits" / "digits.onnx", "-o", digits)
    choose(b, "chooser", [digits])
    checks.equal("chosen", wait(b, SHOWN), "digits.dlc \u2013 DLC viewer")
    weights = [t["name"] for t in native_model(digits)["graphs"][0]["tensors"] if "statistics" in t]
    if checks.check("the example has weights", weights):
        b.run("location.hash = `#tensor=${encodeURIComponent(arguments[0])}`", weights[0])
        checks.check("values are read when they are looked at", wait(b, "return document.querySelector('.panel .histogram') !== null"))
    SHOTS.mkdir(exist_ok=True)
    b.screenshot(SHOTS / "web-page.png")
    read(b, [netp, nr64], values=False)  # puts the files at hand
    b.run(DROP)
    compared = "return document.title.startsWith('nr64') && !document.getElementById('changes').hidden"
    checks.check("two dropped files are compared", wait(b, compared))
    b.run("document.getElementById('swap').click()")
    checks.check("and the other way round", wait(b, compared.replace("nr64", "netp")))
    (folder / "no.dlc").write_text("no container")
    choose(b, "chooser", [folder / "no.dlc"])
    checks.check("what is none is refused", "not a DLC container" in (wait(b, FAILURE) or ""))
    b.run("document.getElementById('back').click()")
    checks.check("what was open stays", b.run(SHOWN))


def check_privacy(checks, b, server):
    """Neither the page nor its workers reach even the server that they came from."""
    blocked = b.run_async("fetch('/x').then(() => arguments[0]('sent'), () => arguments[0]('blocked'))")
    checks.equal("requests of the page", blocked, "blocked")
    inside = b.run_async("""
const done = arguments[0], source = new Blob([`
  const request = new XMLHttpRequest();
  request.onloadend = () => postMessage(request.status);
  try { request.open('GET', '${location.origin}/y'); request.send(); } catch (error) { postMessage(0); }`]);
const worker = new Worker(URL.createObjectURL(source));
worker.onmessage = ({ data }) => done(data);""")
    checks.equal("requests of a worker", inside, 0)
    checks.equal("what was asked for", [path for path in server.requests if path not in ("/", "/favicon.ico")], [])


def check_all(checks, page, folder):
    with Server(page) as server, browser.Browser(still=True) as b:
        b.go(server.address)
        checks.check("the page is ready", wait(b, "return document.documentElement.dataset.ready"))
        checks.check("and opens no file by itself", not b.run("return Boolean(window.dlcViewer)"))
        began = time.monotonic()
        check_page(checks, b, folder)
        check_models(checks, b, folder)
        check_pairs(checks, b)
        check_errors(checks, b, folder)
        check_large(checks, b, folder)
        checks.equal("console", [line for line in b.log() if "willReadFrequently" not in line], [])
        check_privacy(checks, b, server)
        print(f"the page was tried for {time.monotonic() - began:.0f} s")


def main():
    checks = Checks()
    missing = browser.missing() or ("" if os.environ.get("ODLC_WEB_PAGE") or shutil.which("emcc") else "emcc not found")
    leave_out(0 if LONG else 1, 1, "pages that open containers")
    text = (SOURCE / "src" / "web" / "meson.build").read_text()
    exported = set(re.findall(r"_(web_\w+)", text))
    defined = set(re.findall(r"^EXPORT .*?(web_\w+)\(", (SOURCE / "src" / "web" / "web.c").read_text(), re.MULTILINE))
    checks.equal("functions that the build exports", exported, defined)
    for header, *sources in (("base/pages.h", "base/pages_heap.c", "web/web_pages.c"), ("dlc/unpack.h", "web/web_unpack.c")):
        declared, *defined = (re.findall(r"^[a-z]\w+ .*?\b(\w+)\(", (SOURCE / "src" / file).read_text(), re.MULTILINE)
                              for file in (header, *sources))
        found = [name for names in defined for name in names if name in declared]
        checks.equal(f"functions of {header} that {sources} have, each once", sorted(found), sorted(declared))
    if LONG and missing:
        checks.skip("the page in a browser", missing)
    elif LONG:
        page = make_page(checks)
        with tempfile.TemporaryDirectory() as name:
            if page:
                check_all(checks, page, pathlib.Path(name))
    checks.finish()


main()
