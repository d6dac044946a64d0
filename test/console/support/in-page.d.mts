/** What in the page is not its own work, or breaks its layout. It goes to each place first, and waits for its heading. */
export function foreignParts(
  places: readonly { readonly fragment: string; readonly heading: string }[],
): Promise<readonly string[]>;

/** Changes the fragment of the address, as a link does. Settles when the page has painted. */
export function goTo(fragment: string): Promise<void>;

/** What axe-core finds. It was put into the page before. */
export function axeViolations(): Promise<readonly string[]>;

/** What can be scrolled, were it not for the boxes that scroll by themselves. */
export function sizeOfDocument(): { readonly width: number; readonly height: number };

export function isInView(element: Element): boolean;

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
export function copyText(text: string): Promise<void>;
export function hasFocus(element: Element): boolean;
export function tooWideParts(): string[];
export function hide(isHidden: boolean): void;
export function addresses(links: Element[]): (string | null)[];
export function believe(texts: readonly string[]): void;
export function framesInLens(items: Element[]): readonly string[];
