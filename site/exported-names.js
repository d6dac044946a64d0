/** Every name that the packages export, with what its JSDoc says. Tests read it. */
import { ReflectionKind } from 'typedoc';
import { readReference } from './reference.js';

/**
 * @returns {Promise<{ module: string, name: string, sentence: string, examples: string[], text: string }[]>} for each
 * name, and as `Name.member` for each member of it; `text` is all that the reference shows of its comments
 */
export async function exportedNames() {
  const { project } = await readReference();
  return (project.children ?? []).flatMap((module) =>
    (module.children ?? [])
      .filter(({ kind }) => kind !== ReflectionKind.Reference)
      .flatMap((reflection) => describe(module.name, reflection, reflection.name)),
  );
}

function describe(module, reflection, name) {
  const comments = commentsOf(reflection);
  const own = {
    module,
    name,
    sentence: comments.map(({ summary }) => textOf(summary)).find((text) => text !== '') ?? '',
    examples: comments.flatMap((comment) =>
      comment.getTags('@example').map(({ content }) => textOf(content)),
    ),
    text: comments
      .flatMap(({ summary, blockTags }) => [summary, ...blockTags.map(({ content }) => content)])
      .map(textOf)
      .join('\n'),
  };
  const members = reflection.children ?? reflection.type?.declaration?.children ?? [];
  return [own, ...members.flatMap((member) => describe(module, member, `${name}.${member.name}`))];
}

/** The comment of a function is at its signatures, that of an accessor at what reads it. */
function commentsOf({ comment, signatures, getSignature, type }) {
  const inner = type?.declaration?.signatures ?? [];
  const all = [
    comment,
    getSignature?.comment,
    ...[...(signatures ?? []), ...inner].map((each) => each.comment),
  ];
  return all.filter((each) => each !== undefined);
}

function textOf(parts) {
  return parts
    .map(({ text }) => text)
    .join('')
    .trim();
}
