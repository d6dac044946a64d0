import type { ClientReport } from '@isthmus/check/internal/client/run/check-client.js';
import type { RealClient } from './real-clients.js';

export function judgeClient(
  client: RealClient,
  options?: { readonly only?: readonly string[]; readonly jobs?: number },
): Promise<ClientReport>;
