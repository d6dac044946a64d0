export interface RealClient {
  readonly name: string;
  readonly of: string;
  readonly at: string;
  readonly program: string;
  readonly over?: 'http';
}

export const REAL_CLIENTS: readonly RealClient[];
