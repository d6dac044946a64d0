// Its vice: it is particular about versions. Modern; -32022 with `data.supported` until the version fits.
// node server-rejects-versions.mjs <supported,list>          as the list says; `initialize` works when the list
//                                                            holds a legacy revision
// node server-rejects-versions.mjs <supported,list> first    rejects the first request whatever its version
// node server-rejects-versions.mjs <supported,list> always   rejects every request, even with a listed version
import {
  choice,
  isModern,
  LEGACY,
  MODERN,
  serveLines,
  unsupported,
  versionOf,
} from './support/line-server.mjs';

const supported = (process.argv[2] ?? MODERN).split(',');
const how = choice(1, ['fits', 'first', 'always']);
const legacyVersions = supported.filter((version) => LEGACY.includes(version));
const versions = supported.filter((version) => !LEGACY.includes(version));
let requests = 0;

serveLines({
  name: 'rejects-versions',
  eras: legacyVersions.length > 0 ? 'dual' : 'modern',
  versions,
  legacyVersions,
  intercept(message, server) {
    if (message.method === undefined || message.id === undefined) return false;
    requests += 1;
    const requested = isModern(message) ? versionOf(message) : message.params?.protocolVersion;
    const opensLegacy = !isModern(message) && legacyVersions.length > 0;
    const fits = opensLegacy || versions.includes(requested);
    if (how === 'fits' ? fits : how === 'first' && requests > 1 && fits) return false;
    const { code, message: text, data } = unsupported(supported, requested);
    server.fail(message.id, code, text, data);
    return true;
  },
});
