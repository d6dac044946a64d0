import type { Meta, MetaObject } from './vocabulary.js';

// Elicitation: the server asks the user. Since 2025-06-18.

/** A text field of a form. */
export type StringSchema = {
  type: 'string';
  title?: string;
  description?: string;
  minLength?: number;
  maxLength?: number;
  format?: 'email' | 'uri' | 'date' | 'date-time';
  /** Since 2025-11-25. */
  default?: string;
};

/** A number field of a form. */
export type NumberSchema = {
  type: 'number' | 'integer';
  title?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  /** Since 2025-11-25. */
  default?: number;
};

/** A yes-or-no field of a form. */
export type BooleanSchema = { type: 'boolean'; title?: string; description?: string; default?: boolean };

/** Choose one, shown as it is. */
export type UntitledSingleSelectEnumSchema = {
  type: 'string';
  title?: string;
  description?: string;
  enum: string[];
  default?: string;
};

/** Choose one, shown by title. Since 2025-11-25. */
export type TitledSingleSelectEnumSchema = {
  type: 'string';
  title?: string;
  description?: string;
  oneOf: { const: string; title: string }[];
  default?: string;
};

/** Choose several, shown as they are. Since 2025-11-25. */
export type UntitledMultiSelectEnumSchema = {
  type: 'array';
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { type: 'string'; enum: string[] };
  default?: string[];
};

/** Choose several, shown by title. Since 2025-11-25. */
export type TitledMultiSelectEnumSchema = {
  type: 'array';
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { anyOf: { const: string; title: string }[] };
  default?: string[];
};

/** The titles of 2025-06-18, side by side with the values. Later revisions prefer `oneOf`. */
export type LegacyTitledEnumSchema = UntitledSingleSelectEnumSchema & { enumNames?: string[] };

/** A field of a form with one choice. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** A field of a form with several choices at once. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** A field of a form with choices. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** One field of a form. */
export type PrimitiveSchema = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** A form: a flat object, nothing nested. */
export type ElicitSchema = {
  type: 'object';
  $schema?: string;
  properties: { [key: string]: PrimitiveSchema };
  required?: string[];
};

/** Asks the user to fill in a form. Never for secrets: those go through a URL. */
export type ElicitFormParams = {
  /** Since 2025-11-25; absent means form. */
  mode?: 'form';
  message: string;
  requestedSchema: ElicitSchema;
  _meta?: Meta;
};

/** Sends the user to a URL; what the user does there is not part of the answer. Since 2025-11-25. */
export type ElicitUrlParams = {
  mode: 'url';
  message: string;
  url: string;
  /** Required by 2025-11-25, unknown to 2026-07-28. */
  elicitationId?: string;
  _meta?: Meta;
};

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** The answer of a user to an elicitation. */
export type ElicitResult = {
  /** `decline`: the user said no. `cancel`: the user did not choose. */
  action: 'accept' | 'decline' | 'cancel';
  /** The filled form, on `accept` in form mode only. `string[]` since 2025-11-25. */
  content?: { [key: string]: string | number | boolean | string[] };
  _meta?: MetaObject;
};
