/** A report in the forms that people and programs read. Pure: a report goes in, text comes out. */
export { toHtml } from './html.js';
export { toJson } from './json.js';
export { toJunit } from './junit.js';
export { type SarifOptions, toSarif } from './sarif.js';
