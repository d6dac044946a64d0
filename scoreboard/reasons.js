// Why a failure of a MUST is the peer's: data in reasons.json, matched with what was found.
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Reason
 * @property {string} check
 * @property {string[]} peers Names of the table.
 * @property {string} why A sentence or two.
 * @property {string} source Where in the peer's code it can be read.
 * @property {string} [sometimes] Why a run may not see it. Such a reason is never stale.
 */

/** @returns {Reason[]} */
export function readReasons() {
  return JSON.parse(readFileSync(new URL('reasons.json', import.meta.url), 'utf8'));
}

/**
 * @param {readonly { readonly name: string, readonly broken: readonly string[] }[]} rows What was judged, and the ids of
 * the MUST checks that failed there.
 * @param {readonly Reason[]} reasons
 */
export function matchReasons(rows, reasons) {
  const isMeant = (reason, name, check) => reason.check === check && reason.peers.includes(name);
  const unexplained = rows.flatMap(({ name, broken }) =>
    [...new Set(broken)]
      .filter((check) => !reasons.some((reason) => isMeant(reason, name, check)))
      .map((check) => `${name}: ${check}`),
  );
  const stale = reasons.flatMap(({ check, peers, sometimes }) =>
    (sometimes === undefined ? peers : [])
      .filter((peer) => rows.some(({ name, broken }) => name === peer && !broken.includes(check)))
      .map((peer) => `${peer}: ${check}`),
  );
  return { unexplained, stale };
}

/** @param {readonly Reason[]} reasons */
export function reasonFor(reasons, name, check) {
  return reasons.find((reason) => reason.check === check && reason.peers.includes(name));
}
