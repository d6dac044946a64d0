/** Its own module, so that it is loaded only for the dialect that needs it. */
export { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
