/** What a server asks the user: a flat form, or a visit to a URL. Since 2025-06-18. */

import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { uri } from './formats.js';
import {
  all,
  below,
  boolean,
  by,
  choice,
  count,
  type Ground,
  inWords,
  list,
  map,
  number,
  object,
  oneOf,
  type Shape,
  since,
  string,
} from './shape.js';

const named = { 'title?': string, 'description?': string };
const titledChoices = list(object({ const: string, title: string }));

/** Free text, or a choice of one. Titles moved from `enumNames` to `oneOf` with 2025-11-25. */
const stringField = object({
  ...named,
  'minLength?': count,
  'maxLength?': count,
  'format?': oneOf('email', 'uri', 'date', 'date-time'),
  'enum?': list(string),
  'enumNames?': list(string),
  'oneOf?': since('2025-11-25', titledChoices),
  'default?': since('2025-11-25', string),
});

const numberField = object({
  ...named,
  'minimum?': number,
  'maximum?': number,
  'default?': since('2025-11-25', number),
});

const booleanField = object({ ...named, 'default?': boolean });

/** A choice of several. */
const arrayField = object({
  ...named,
  'minItems?': count,
  'maxItems?': count,
  items: (value, path, ground) => {
    const titled = isJsonObject(value) && value['anyOf'] !== undefined;
    const shape = titled
      ? object({ anyOf: titledChoices })
      : object({ type: oneOf('string'), enum: list(string) });
    shape(value, path, ground);
  },
  'default?': list(string),
});

const field = by('type', (revision) => ({
  string: stringField,
  number: numberField,
  integer: numberField,
  boolean: booleanField,
  ...(revision >= '2025-11-25' && { array: arrayField }),
}));

const form = object({
  message: string,
  requestedSchema: object({
    '$schema?': since('2025-11-25', string),
    type: oneOf('object'),
    properties: map(field),
    'required?': list(string),
  }),
});

/** The id was 2025-11-25's alone. */
const visit: Shape = all(object({ message: string, url: uri }), (value, path, ground) => {
  if (ground.revision === '2025-11-25') object({ elicitationId: string })(value, path, ground);
});

/** Without a mode it is a form. Modes came with 2025-11-25. */
export const elicitationParams: Shape = (value, path, ground) => {
  const mode = isJsonObject(value) ? value['mode'] : undefined;
  if (ground.revision < '2025-11-25' || mode === undefined || mode === 'form') form(value, path, ground);
  else if (mode === 'url') visit(value, path, ground);
  else refuseMode(mode, path, ground);
};

/** An entry of `data.elicitations` in error -32042. */
export const requiredVisit: Shape = all(object({ mode: oneOf('url') }), visit);

function refuseMode(mode: unknown, path: string, { complaints }: Ground): void {
  complaints.push({ path: below(path, 'mode'), expected: choice(['form', 'url']), got: inWords(mode) });
}
