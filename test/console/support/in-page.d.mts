export function lookAround(): {
  readonly scripts: number;
  readonly foreign: number;
  readonly remote: number;
  readonly bidi: boolean;
  readonly polluted: boolean;
  readonly tooWide: boolean;
};

export function nextFrame(): Promise<void>;

export function tryEverything(target: {
  readonly api: string;
  readonly origin: string;
  readonly key: string;
}): Promise<{
  readonly fetched: readonly string[];
  readonly streamed: string;
  readonly socket: string;
  readonly framed: string;
}>;
