import { Fragment } from 'preact';
import { useState } from 'preact/hooks';

/** Control, direction and invisible characters, and halves of surrogate pairs: they can make a text look like another one. */
const ODD =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are made visible
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Surrogate}]/gu;

const MAX = 4000;

/** A text of a server, as it is: nothing in it is markup, odd characters are shown as U+202E, and a long one is cut. */
export function Text({ of, max = MAX }: { readonly of: string; readonly max?: number }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = of.length > max && !isWhole;
  return (
    <bdi>
      {pieces(isLong ? of.slice(0, max) : of)}
      {isLong && (
        <>
          {'… '}
          <button type="button" class="plain" onClick={() => setWhole(true)}>
            {`show all ${of.length.toLocaleString('en')} characters`}
          </button>
        </>
      )}
    </bdi>
  );
}

/** The same for places that take no elements: names, options, titles. */
export function plain(text: string, max = 200): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return cut.replace(ODD, (character) => `[${codeOf(character)}]`);
}

/** The name of an option. A narrow column breaks it between its words. */
export function OptionName({ of }: { readonly of: string }) {
  const words = plain(of, 60).split(/(?<=[a-z])(?=[A-Z])/);
  return words.map((word, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {word}
    </Fragment>
  ));
}

function pieces(text: string) {
  const found = [];
  let begin = 0;
  for (const each of text.matchAll(ODD)) {
    if (each.index > begin) found.push(text.slice(begin, each.index));
    found.push(<span class="odd">{codeOf(each[0])}</span>);
    begin = each.index + each[0].length;
    if (found.length > 2000) break;
  }
  if (begin < text.length) found.push(text.slice(begin));
  return found;
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** What a server says about one of its items, if it says something. */
export function About({ text }: { readonly text: unknown }) {
  if (typeof text !== 'string') return null;
  return (
    <p class="about-text">
      <Text of={text} max={1200} />
    </p>
  );
}
