import { effect, signal } from '@preact/signals';
import type { QuestionAnswer, QuestionView } from '../../../../src/contract.js';
import { ask } from '../../api.js';
import { may } from '../session.js';
import { questions } from '../store.js';

/** An answer that is given by itself to the same question of the same server and tool. */
export interface Preset {
  readonly key: string;
  readonly label: string;
  readonly answer: QuestionAnswer;
}

/** They live as long as the page, and are never stored. */
export const presets = signal<readonly Preset[]>([]);

/** A page that a person should open is never agreed to by itself. */
export function canKeep({ kind }: QuestionView): boolean {
  return kind !== 'url';
}

export function keepPreset(question: QuestionView, answer: QuestionAnswer): void {
  const key = keyOf(question);
  const label = `${question.tool ?? question.asker} · ${question.kind}`;
  presets.value = [
    ...presets
      .peek()
      .filter((each) => each.key !== key)
      .slice(-99),
    { key, label, answer },
  ];
}

export function forgetPreset(key: string): void {
  presets.value = presets.peek().filter((each) => each.key !== key);
}

/** Answers each new question that has a preset. One that the server refuses stays for the person. */
export function followPresets(): void {
  const tried = new Set<number>();
  effect(() => {
    for (const question of questions.all.value) {
      const preset = presets.peek().find(({ key }) => key === keyOf(question));
      if (!preset || tried.has(question.id) || !may('act')) continue;
      tried.add(question.id);
      ask('POST questions/:id', { path: [question.id], body: preset.answer }).then(
        () => questions.delete(question.id),
        () => {},
      );
    }
  });
}

function keyOf({ kind, asker, tool, server, params }: QuestionView): string {
  return JSON.stringify([kind, asker, tool, server, params['requestedSchema']]);
}
