// SPDX-License-Identifier: Apache-2.0
// What the reader asks JavaScript for (imports.h); `host` is worker.js's.
mergeInto(LibraryManager.library, {
  web_read: function (file, offset, bytes, size) {
    return host.read(file, offset, HEAPU8.subarray(bytes, bytes + size)) ? 0 : 1;
  },
  web_inflate: function (packed, packedSize, out, size) {
    return host.inflate(HEAPU8.subarray(packed, packed + packedSize), HEAPU8.subarray(out, out + size)) ? 1 : 0;
  },
  web_progress: function (done, total) {
    host.progress(done, total);
  },
});
