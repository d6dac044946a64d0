export interface Driver {
  list(): Promise<readonly { readonly name: string; readonly inputSchema?: unknown }[]>;
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  listen?(): Promise<unknown>;
  close(): Promise<unknown>;
}

export function play(connect: () => Promise<Driver>): Promise<void>;
export function doSteps(client: Driver, steps: readonly object[]): Promise<void>;
export function acceptForm(question: unknown): { action: 'accept'; content: Record<string, never> };
export const SAMPLED: { role: 'assistant'; content: { type: 'text'; text: string }; model: string };
export const ROOTS: { uri: string; name: string }[];
export function address(): { url?: string; command?: string; args?: string[] };
