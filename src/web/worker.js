// SPDX-License-Identifier: Apache-2.0
// The worker that reads containers, before the compiled reader (web.c), whose functions and memory it uses. It is sent
//   { files: [File, …] }   the container to be shown, and one that it is compared with
//   { values: number }     a constant whose values the model left for later
// and answers { model, warnings }, { number, values } or { error, number }, before that { done, total } in bytes.

// The reader is in the page, too: nothing is fetched.
self.fetch = undefined;

const WINDOW = 128 * 1024, WINDOWS = 8, LEAST_WAIT = 100;

const host = {
  files: [],
  reader: new FileReaderSync(),
  windows: [],          // the bytes that were read last: { file, at, bytes }
  lastRead: "",         // what the packed bytes of an entry are known by
  inflated: new Map(),  // null: they are damaged
  wanted: null,         // packed bytes that must be inflated before web_open can go on
  told: 0,

  slice(file, at, size) {
    return new Uint8Array(this.reader.readAsArrayBuffer(this.files[file].slice(at, at + size)));
  },

  window(file, at) {
    const found = this.windows.findIndex((window) => window.file === file && window.at === at);
    const [window] = found < 0 ? [{ file, at, bytes: this.slice(file, at, WINDOW) }] : this.windows.splice(found, 1);
    this.windows = [window, ...this.windows.slice(0, WINDOWS - 1)];
    return window.bytes;
  },

  // Small pieces come of windows, in which others of them stand.
  read(file, offset, out) {
    try {
      this.lastRead = `${file}:${offset}:${out.length}`;
      const at = offset - offset % WINDOW, inside = offset - at;
      const bytes = inside + out.length <= WINDOW ? this.window(file, at).subarray(inside, inside + out.length)
        : this.slice(file, offset, out.length);
      out.set(bytes);
      return bytes.length === out.length;
    } catch {
      return false;
    }
  },

  inflate(packed, out) {
    const bytes = this.inflated.get(this.lastRead);
    if (bytes === undefined)
      this.wanted = { key: this.lastRead, packed: packed.slice(), size: out.length };
    if (bytes)
      out.set(bytes);
    return Boolean(bytes);
  },

  progress(done, total) {
    const now = performance.now();
    if (now - this.told < LEAST_WAIT)
      return;
    this.told = now;
    postMessage({ done, total });
  },
};

// The bytes that packed ones stand for; null: they are damaged, or not as many as they should be.
async function inflated({ packed, size }) {
  const out = new Uint8Array(size);
  let at = 0;
  try {
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (at + piece.value.length > size) {
        await reader.cancel();
        return null;
      }
      out.set(piece.value, at);
      at += piece.value.length;
    }
  } catch {
    return null;
  }
  return at === size ? out : null;
}

function textOut() {
  const at = Module._web_text();
  return new TextDecoder().decode(HEAPU8.subarray(at, at + Module._web_text_size()));
}

function words() {
  Module._web_diags();
  return textOut() || "memory ran out";
}

function tellOf(files) {
  host.files = files;
  files.forEach((file, i) => {
    const name = new TextEncoder().encode(file.name), at = Module._web_file(i, file.size, name.length);
    HEAPU8.set(name, at);
  });
}

async function open(files) {
  tellOf(files);
  let status = Module._web_open();
  while (host.wanted) {
    const { key } = host.wanted;
    host.inflated.set(key, await inflated(host.wanted));
    host.wanted = null;
    status = Module._web_open();
  }
  const model = status === 0 ? textOut() : null;
  Module._web_diags();
  postMessage(model === null ? { error: words() } : { model, warnings: textOut() });
}

function readValues(number) {
  const status = Module._web_values(number);
  postMessage(status === 0 ? { number, values: textOut() } : { number, error: words() });
}

var Module = {};
const ready = new Promise((resolve) => { Module.onRuntimeInitialized = resolve; });

onmessage = async ({ data }) => {
  try {
    await ready;
    await (data.files ? open(data.files) : readValues(data.values));
  } catch (failure) {
    postMessage({ error: `the reader failed: ${failure.message || failure}` });
  }
};
