/**
 * The public address of the repository, such as `https://github.com/OWNER/isthmus`. There is none yet. `npm run generate`
 * writes it into the manifests of the packages once it is set. Nothing else may depend on it.
 * @type {string | undefined}
 */
export const PUBLIC_ADDRESS = undefined;

/**
 * `repository`, `homepage` and `bugs` of a manifest. Without an address there are none.
 * @param {string | undefined} address
 * @param {string} folder of the package in the repository
 */
export function addressFields(address, folder) {
  if (address === undefined) return {};
  return {
    homepage: `${address}#readme`,
    repository: { type: 'git', url: `git+${address}.git`, directory: folder },
    bugs: { url: `${address}/issues` },
  };
}

/**
 * The text of a manifest with these fields, after its version, and without older ones.
 * @param {string} text
 * @param {string | undefined} address
 * @param {string} folder
 */
export function withAddress(text, address, folder) {
  const fields = addressFields(address, folder);
  const entries = Object.entries(JSON.parse(text)).flatMap(([key, value]) => {
    if (['homepage', 'repository', 'bugs'].includes(key)) return [];
    return key === 'version' ? [[key, value], ...Object.entries(fields)] : [[key, value]];
  });
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}
