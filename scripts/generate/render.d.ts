import type { ServerOption } from '../../packages/sdk/src/config/options/option-table.js';

export function renderSchema(options: Readonly<Record<string, ServerOption>>): string;
export function renderPage(page: string, options: Readonly<Record<string, ServerOption>>): string;
