/** Required by a program: tells on stderr what is loaded when the program writes its first line to stdout. */
const { writeSync } = require('node:fs');
const { basename } = require('node:path');

const write = process.stdout._write;
process.stdout._write = function (...given) {
  process.stdout._write = write;
  const builtIns = process.moduleLoadList.filter((entry) => /^NativeModule \w+$/.test(entry));
  const files = Object.keys(require.cache).map((path) => basename(path));
  const loaded = [...builtIns.map((entry) => entry.slice('NativeModule '.length)), ...files];
  writeSync(2, `loaded ${JSON.stringify(loaded)}\n`);
  return write.apply(this, given);
};
